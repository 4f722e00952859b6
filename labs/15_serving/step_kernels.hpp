// The kernels of a step, for decode_graph.cu and baseline.cu.
#pragma once
#include "step.hpp"

constexpr int kWarpsOfBlock = 4;

// state: (sequences, dim); x: (rows, dim). A block a row; a row without a sequence is 0.
static __global__ void gather_kernel(Step s) {
  const int step = *s.step, row = static_cast<int>(blockIdx.x);
  const bool used = row < s.batch[step];
  const std::size_t from = used ? static_cast<std::size_t>(s.active[step * kMostBatch + row]) * s.dim : 0;
  for (int i = static_cast<int>(threadIdx.x); i < s.dim; i += static_cast<int>(blockDim.x))
    s.x[static_cast<std::size_t>(row) * s.dim + i] = used ? s.state[from + i] : 0;
}

// w: (dim, dim); x, y: (rows, dim). y = mix(W x), a warp for each number.
static __global__ void layer_kernel(const unsigned* w, const unsigned* x, unsigned* y, int dim) {
  const int i = static_cast<int>(blockIdx.x) * kWarpsOfBlock + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::size_t row = static_cast<std::size_t>(blockIdx.y) * dim;
  if (i >= dim) return;
  unsigned sum = 0;
  for (int c = lane; c < dim; c += 32) sum += w[static_cast<std::size_t>(i) * dim + c] * x[row + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(d));
  if (lane == 0) y[row + i] = mix(sum);
}

// x: (rows, dim); state: (sequences, dim). A block, which also counts the step.
static __global__ void scatter_kernel(Step s, const unsigned* x) {
  const int step = *s.step, batch = s.batch[step];
  for (int i = static_cast<int>(threadIdx.x); i < batch * s.dim; i += static_cast<int>(blockDim.x))
    s.state[static_cast<std::size_t>(s.active[step * kMostBatch + i / s.dim]) * s.dim + i % s.dim] =
        x[i] + static_cast<unsigned>(step);
  __syncthreads();
  if (threadIdx.x == 0) *s.step = step + 1;
}

// Enqueues a step for `rows` rows, at least as many as are active: the kernels compute this many, those after the active
// sequences for nothing. Which sequences are active they read on the device: only `rows` differs from step to step.
// layers + 2 launches.
static inline void enqueue_step(const Step& s, int rows, cudaStream_t stream) {
  const std::size_t matrix = static_cast<std::size_t>(s.dim) * s.dim;
  unsigned *x = s.x, *y = s.x + static_cast<std::size_t>(kMostBatch) * s.dim;
  gather_kernel<<<rows, 128, 0, stream>>>(s);
  for (int l = 0; l < s.layers; ++l) {
    layer_kernel<<<dim3((s.dim + kWarpsOfBlock - 1) / kWarpsOfBlock, rows), 32 * kWarpsOfBlock, 0, stream>>>(
        s.weights + l * matrix, x, y, s.dim);
    unsigned* const next = x;
    x = y, y = next;
  }
  scatter_kernel<<<1, 1024, 0, stream>>>(s, x);
}
