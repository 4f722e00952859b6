// replaces: reduce.cu; task: reduce; step: 1; idea: 4096 threads add their own elements, then one atomic a thread
#include "warp_shuffle.hpp"

// in: n floats; out: 1 float, 0 before. Neighbouring threads take neighbouring elements, so every sector is read once.
// Few threads keep few bytes on their way, and more of them would take turns at one address, with a longer chain of
// additions.
__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  float sum = 0;
  for (std::size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  atomicAdd(out, sum);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  reduce_kernel<<<16, 256, 0, stream>>>(in, out, n);
}
