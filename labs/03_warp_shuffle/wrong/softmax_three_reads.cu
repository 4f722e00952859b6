// replaces: softmax.cu; fails: softmax/sectors; backend: cpu
// Right: a pass for the maximum, one for the sum, one for the output. Each row is read three times.
#include "warp_shuffle.hpp"

__global__ void softmax_kernel(const float* in, float* out, int cols) {
  const std::size_t start = std::size_t{blockIdx.x} * cols;
  float max = -3.4e38f, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) max = fmaxf(max, in[start + c]);
  for (int step = 16; step > 0; step /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, step));
  for (int c = threadIdx.x; c < cols; c += 32) sum += __expf(in[start + c] - max);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = threadIdx.x; c < cols; c += 32) out[start + c] = __expf(in[start + c] - max) / sum;
}

void softmax(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  softmax_kernel<<<rows, 32, 0, stream>>>(in, out, cols);
}
