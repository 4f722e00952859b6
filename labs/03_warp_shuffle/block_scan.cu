// Lab 03, task `block_scan`: prefix sums inside each tile of kScanTile numbers, and the sum of each tile.
//
// The kernel below scans the numbers of one thread. Launch 256 threads in place of 1024, let each of 8 warps scan four
// rows of 128 with shuffles, then let the warps exchange their sums. Run: ./ridge check 03 --task block_scan
#include "warp_shuffle.hpp"

// TASK(block_scan)
// in, out: n numbers; sums: one for each tile. A block scans a tile; thread t takes the elements 4 t to 4 t + 3 of it.
__global__ void block_scan_kernel(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* sums, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * kScanTile + threadIdx.x * 4;
  std::uint32_t sum = 0;
  // TODO: what stands before the thread's own elements: in the warp, and in the warps before. The tile's sum.
  for (std::size_t i = first; i < first + 4 && i < n; ++i) out[i] = sum += in[i];
  (void)sums;
}

void block_scan(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* sums, std::size_t n, void*, std::size_t,
                cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + kScanTile - 1) / kScanTile);
  block_scan_kernel<<<tiles, kScanTile / 4, 0, stream>>>(in, out, sums, n);
}
// END(block_scan)
