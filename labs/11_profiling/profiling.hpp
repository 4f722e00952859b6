// Contract of lab 11's tasks on the device: `occupancy` and `divergence`. Those on the host have headers of their own:
// model.hpp (predict), profile.hpp (diagnose), search.hpp (autotune).
//
// Pointers are device pointers, at least 256-byte aligned. Work goes on `stream`; the judge waits for it.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// Task `occupancy`. A graph has nodes, each with one successor and a row of kRow floats. From each start a walk makes
// `hops` steps, and adds up the rows that it passes, that of its start included:
//     node = starts[w]; repeat hops times: sums[w][c] += rows[node][c] for all c; node = next[node]
//   next    (nodes), each at least 0 and below `nodes`
//   rows    (nodes, kRow), row-major
//   starts  (walks);  sums (walks, kRow). No workspace
constexpr int kRow = 16;
void walk(const int* next, const float* rows, const int* starts, float* sums, int nodes, int walks, int hops,
          void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// Task `divergence`. y[i] = relax(kind[i], x[i]): as many rounds as the kind says.
//   kind  (n), 0 to kKinds - 1, in no order; x, y (n); workspace: 4 n + 4096 bytes
constexpr int kKinds = 4;
__host__ __device__ constexpr int rounds_of(int kind) { return 8 << (2 * kind); }  // 8, 32, 128, 512

// A damped oscillator, with another force for each kind. A round forgets 1/128 of what was before, and its rounding
// errors with it.
__device__ inline float relax(int kind, float x) {
  const float force = 0.5f + kind;
  for (int round = 0; round < rounds_of(kind); ++round) x = force - 0.9921875f * x;
  return x;
}

void evaluate(const int* kind, const float* x, float* y, int n, void* workspace, std::size_t workspace_bytes,
              cudaStream_t stream);
