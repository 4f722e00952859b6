// replaces: reduce.cu; fails: reduce/correct; backend: cpu
// One float for everything, in order: from 2^24 on it does not see a 1 any more.
#include "warp_shuffle.hpp"

__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  reduce_kernel<<<1, 1, 0, stream>>>(in, out, n);
}
