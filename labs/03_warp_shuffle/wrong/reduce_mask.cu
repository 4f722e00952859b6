// replaces: reduce.cu; fails: reduce/memory; backend: cpu
// A shuffle inside a branch, with a mask that names lanes that never come there.
#include "warp_shuffle.hpp"

__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * 4096 + threadIdx.x;
  float sum = 0;
  for (std::size_t i = first; i < n && i < first + 4096; i += 256) sum += in[i];
  for (unsigned step = 16; step > 0; step /= 2)
    if (threadIdx.x % 32 < step) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  reduce_kernel<<<static_cast<unsigned>((n + 4095) / 4096), 256, 0, stream>>>(in, out, n);
}
