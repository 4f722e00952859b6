// replaces: reduce.cu; fails: reduce/shared; backend: cpu
// The tree stands in shared memory: a barrier for each level, and threads that are a multiple apart: idle lanes, bank
// conflicts.
#include "warp_shuffle.hpp"

__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  __shared__ float sums[256];
  const std::size_t first = std::size_t{blockIdx.x} * 4096 + threadIdx.x;
  float sum = 0;
  for (std::size_t i = first; i < n && i < first + 4096; i += 256) sum += in[i];
  sums[threadIdx.x] = sum;
  for (unsigned step = 1; step < 256; step *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * step) == 0) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  reduce_kernel<<<static_cast<unsigned>((n + 4095) / 4096), 256, 0, stream>>>(in, out, n);
}
