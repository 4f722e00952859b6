// Task `decode_graph`: a step of a model for the sequences that are active in it. Its kernels are in step_kernels.hpp. The
// model has whole numbers, modulo 2^32, so that every answer is exact: a layer is x = mix(W x).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

constexpr int kMostBatch = 64;

// All pointers are device pointers.
struct Step {
  const unsigned* weights;  // (layers, dim, dim)
  const int* batch;         // (steps): how many sequences are active in each step, at most kMostBatch
  const int* active;        // (steps, kMostBatch): which ones
  unsigned* state;          // (sequences, dim): of each sequence, updated in each step in which it is active
  unsigned* x;              // (2, kMostBatch, dim): scratch
  int* step;                // the number of the step; the last kernel of a step adds 1
  int layers, dim;
};

__host__ __device__ inline unsigned mix(unsigned v) {
  v ^= v >> 15;
  return v * 2654435761u;
}

// Runs `steps` steps. batch_sizes: s.batch once more, on the host. *s.step and s.x are undefined at each call; all steps
// begin with number 0. A graph holds one step, and a call makes at most 7 graphs: requests that come later decide what
// later steps are. The host waits for nothing, and a call destroys whatever it makes.
void decode_graph(const Step& s, const int* batch_sizes, int steps, cudaStream_t stream);

// The size of the batch of a step in the judge's cases. Requests come and go, so that it rises and falls.
inline int batch_of_step(int step, int most, int seed) {
  const int wave = (step * 7 + seed) % (2 * most);
  const int size = wave < most ? wave : 2 * most - 1 - wave;
  return size < 1 ? 1 : size;
}
