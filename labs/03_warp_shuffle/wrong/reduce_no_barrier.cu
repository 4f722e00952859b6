// replaces: reduce.cu; fails: reduce/correct; backend: cpu
// No barrier: warp 0 adds numbers that the other warps may not have written yet.
#include "warp_shuffle.hpp"

__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  __shared__ float of_warp[8];
  const std::size_t first = std::size_t{blockIdx.x} * 4096 + threadIdx.x;
  float sum = 0;
  for (std::size_t i = first; i < n && i < first + 4096; i += 256) sum += in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) sum += of_warp[w];
  atomicAdd(out, sum);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  reduce_kernel<<<static_cast<unsigned>((n + 4095) / 4096), 256, 0, stream>>>(in, out, n);
}
