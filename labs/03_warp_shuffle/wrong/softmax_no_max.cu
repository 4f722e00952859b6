// replaces: softmax.cu; fails: softmax/correct; backend: cpu
// The maximum is not subtracted: exp(300) is infinite, and infinity / infinity is NaN.
#include "warp_shuffle.hpp"

__global__ void softmax_kernel(const float* in, float* out, int cols) {
  const std::size_t start = std::size_t{blockIdx.x} * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += __expf(in[start + c]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = threadIdx.x; c < cols; c += 32) out[start + c] = __expf(in[start + c]) / sum;
}

void softmax(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  softmax_kernel<<<rows, 32, 0, stream>>>(in, out, cols);
}
