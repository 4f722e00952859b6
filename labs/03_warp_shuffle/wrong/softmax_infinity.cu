// replaces: softmax.cu; fails: softmax/correct; backend: cpu
// Begins with -infinity: a lane without elements merges -infinity with -infinity, whose difference is NaN.
#include "warp_shuffle.hpp"

__global__ void softmax_kernel(const float* in, float* out, int cols) {
  const std::size_t start = std::size_t{blockIdx.x} * cols;
  float max = __int_as_float(0xff800000), sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float m = fmaxf(max, in[start + c]);
    sum = sum * __expf(max - m) + __expf(in[start + c] - m);
    max = m;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, max, step), m = fmaxf(max, other);
    sum = sum * __expf(max - m) + __shfl_xor_sync(0xffffffffu, sum, step) * __expf(other - m);
    max = m;
  }
  for (int c = threadIdx.x; c < cols; c += 32) out[start + c] = __expf(in[start + c] - max) / sum;
}

void softmax(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  softmax_kernel<<<rows, 32, 0, stream>>>(in, out, cols);
}
