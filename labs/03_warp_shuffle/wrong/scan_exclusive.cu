// replaces: scan.cu; fails: scan/correct; backend: cpu
// Off by one: what stands before each element, without the element itself.
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

__global__ void sum_kernel(const std::uint32_t* in, std::size_t n, std::uint32_t* sums) {
  const std::size_t first = std::size_t{blockIdx.x} * 8192 + threadIdx.x;
  std::uint32_t sum = 0;
  for (std::size_t i = first; i < n && i < first + 8192; i += 1024) sum += in[i];
  sum = block_scan(sum);
  if (threadIdx.x == 1023) sums[blockIdx.x] = sum;
}

// One block: sums becomes the sum of what stands before each tile.
__global__ void offsets_kernel(std::uint32_t* sums, unsigned tiles) {
  __shared__ std::uint32_t before;
  if (threadIdx.x == 0) before = 0;
  for (unsigned i = threadIdx.x; i < (tiles + 1023) / 1024 * 1024; i += 1024) {
    const std::uint32_t x = i < tiles ? sums[i] : 0;
    __syncthreads();
    const std::uint32_t up_to = block_scan(x) + before;
    if (i < tiles) sums[i] = up_to - x;
    __syncthreads();
    if (threadIdx.x == 1023) before = up_to;
  }
}

__global__ void scan_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t n, const std::uint32_t* sums) {
  __shared__ std::uint32_t total;
  const std::size_t first = std::size_t{blockIdx.x} * 8192 + threadIdx.x;
  std::uint32_t before = sums[blockIdx.x];
  for (int k = 0; k < 8; ++k) {
    const std::size_t i = first + k * 1024;
    const std::uint32_t x = i < n ? in[i] : 0;
    __syncthreads();
    const std::uint32_t up_to = block_scan(x);
    if (i < n) out[i] = before + up_to - x;
    if (threadIdx.x == 1023) total = up_to;
    __syncthreads();
    before += total;
  }
}

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t,
          cudaStream_t stream) {
  auto* sums = static_cast<std::uint32_t*>(workspace);
  const auto tiles = static_cast<unsigned>((n + 8191) / 8192);
  sum_kernel<<<tiles, 1024, 0, stream>>>(in, n, sums);
  offsets_kernel<<<1, 1024, 0, stream>>>(sums, tiles);
  scan_kernel<<<tiles, 1024, 0, stream>>>(in, out, n, sums);
}
