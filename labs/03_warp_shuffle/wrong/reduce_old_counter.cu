// replaces: reduce.cu; fails: reduce/correct; backend: cpu
// Trusts that the workspace is zero: the counter begins anywhere, and no block is the last one.
#include "warp_shuffle.hpp"

__global__ void reduce_kernel(const float* in, float* out, std::size_t n, float* partial, unsigned* finished) {
  const std::size_t first = std::size_t{blockIdx.x} * 4096 + threadIdx.x;
  float sum = 0;
  for (std::size_t i = first; i < n && i < first + 4096; i += 256) sum += in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 != 0) return;
  const unsigned warps = gridDim.x * 8;
  partial[blockIdx.x * 8 + threadIdx.x / 32] = sum;
  __threadfence();
  if (atomicAdd(finished, 1) + 1 != warps) return;
  __threadfence();
  sum = 0;
  for (unsigned i = 0; i < warps; ++i) sum += partial[i];
  *out = sum;
}

void reduce(const float* in, float* out, std::size_t n, void* workspace, std::size_t, cudaStream_t stream) {
  auto* finished = static_cast<unsigned*>(workspace);
  reduce_kernel<<<static_cast<unsigned>((n + 4095) / 4096), 256, 0, stream>>>(
      in, out, n, static_cast<float*>(workspace) + 64, finished);
}
