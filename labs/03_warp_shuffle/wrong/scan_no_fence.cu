// replaces: scan.cu; fails: scan/correct; backend: cpu
// Number and flag are two words, and no fence orders them: who sees the flag may read the number from before.
#include "warp_shuffle.hpp"

__device__ static std::uint32_t warp_scan(std::uint32_t x) {
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t left = __shfl_up_sync(0xffffffffu, x, step);
    if (threadIdx.x % 32 >= step) x += left;
  }
  return x;
}

// The sum over the threads 0 to this one of a block of 1024.
__device__ static std::uint32_t block_scan(std::uint32_t x) {
  __shared__ std::uint32_t of_warp[32];
  x = warp_scan(x);
  if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) of_warp[threadIdx.x] = warp_scan(of_warp[threadIdx.x]);
  __syncthreads();
  return x + (threadIdx.x < 32 ? 0 : of_warp[threadIdx.x / 32 - 1]);
}

__global__ void scan_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t n, unsigned* ticket,
                            volatile unsigned* ready, std::uint32_t* prefix) {
  __shared__ unsigned drawn;
  __shared__ std::uint32_t before;
  if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
  __syncthreads();
  const unsigned tile = drawn;
  const std::size_t i = std::size_t{tile} * 1024 + threadIdx.x;
  const std::uint32_t up_to = block_scan(i < n ? in[i] : 0);
  if (threadIdx.x == 1023) {
    before = 0;
    if (tile > 0) {
      while (ready[tile - 1] == 0) {
      }
      before = prefix[tile - 1];
    }
    prefix[tile] = before + up_to;
    ready[tile] = 1;
  }
  __syncthreads();
  if (i < n) out[i] = before + up_to;
}

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t,
          cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + 1023) / 1024);
  auto* words = static_cast<std::uint32_t*>(workspace);
  cudaMemsetAsync(words, 0, (1 + tiles) * sizeof(std::uint32_t), stream);
  scan_kernel<<<tiles, 1024, 0, stream>>>(in, out, n, words, words + 1, words + 1 + tiles);
}
