// replaces: compact.cu; fails: compact/correct; backend: cpu
// One atomic for each warp takes places for all its lanes: fast, but the warps come in any order.
#include "warp_shuffle.hpp"

__global__ void compact_kernel(const float* in, float* out, std::uint32_t* count, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const float x = i < n ? in[i] : 0;
  const unsigned kept = __ballot_sync(0xffffffffu, x > 0);
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(count, __popc(kept));
  first = __shfl_sync(0xffffffffu, first, 0);
  if (x > 0) out[first + __popc(kept & ((1u << lane) - 1))] = x;
}

void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void*, std::size_t,
             cudaStream_t stream) {
  cudaMemsetAsync(count, 0, sizeof(std::uint32_t), stream);
  compact_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, count, n);
}
