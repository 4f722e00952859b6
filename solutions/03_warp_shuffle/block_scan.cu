// Lab 03, task `block_scan`: prefix sums inside each tile of kScanTile numbers, and the sum of each tile.
//
// The kernel below scans the numbers of one thread. Launch 256 threads in place of 1024, let each of 8 warps scan four
// rows of 128 with shuffles, then let the warps exchange their sums. Run: ./ridge check 03 --task block_scan
#include "warp_shuffle.hpp"

// TASK(block_scan)
// A warp scans kRows x 128 neighbouring numbers.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRow = 32 * 4;  // 4 numbers a lane: 16 bytes
constexpr int kTile = kScanTile;
constexpr int kRows = kTile / (kWarps * kRow);
constexpr unsigned kWarp = 0xffffffffu;

static __device__ std::uint32_t warp_sum(std::uint32_t x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

// Lane k gets the sum over the lanes 0 to k.
static __device__ std::uint32_t warp_scan(std::uint32_t x, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t left = __shfl_up_sync(kWarp, x, step);  // all lanes shuffle; only the addition has a condition
    if (lane >= step) x += left;
  }
  return x;
}

// in, out: n numbers; sums: one for each tile. One block scans one tile.
__global__ void __launch_bounds__(kThreads)
    block_scan_kernel(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* sums, std::size_t n) {
  __shared__ std::uint32_t of_warp[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int tile = static_cast<int>(blockIdx.x);
  const std::size_t first = std::size_t(tile) * kTile + warp * (kRows * kRow) + lane * 4;
  const bool whole = std::size_t(tile + 1) * kTile <= n;

  uint4 v[kRows];
  if (whole) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) v[k] = *reinterpret_cast<const uint4*>(in + first + k * kRow);
  } else {
    for (int k = 0; k < kRows; ++k) {
      const std::size_t i = first + k * kRow;
      v[k] = make_uint4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                        i + 3 < n ? in[i + 3] : 0);
    }
  }

  std::uint32_t before = 0;  // of this row, in the warp
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    const std::uint32_t up_to = warp_scan(v[k].w, lane), left = before + up_to - v[k].w;
    v[k] = make_uint4(v[k].x + left, v[k].y + left, v[k].z + left, v[k].w + left);
    before += __shfl_sync(kWarp, up_to, 31);
  }
  if (lane == 31) of_warp[warp] = before;
  __syncthreads();

  const std::uint32_t own = lane < kWarps ? of_warp[lane] : 0;
  before = warp_sum(lane < warp ? own : 0);  // each warp for itself
  const std::uint32_t sum = warp_sum(own);
  if (threadIdx.x == 0) sums[tile] = sum;

#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    v[k] = make_uint4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before);
    const std::size_t i = first + k * kRow;
    if (whole) {
      *reinterpret_cast<uint4*>(out + i) = v[k];
    } else {
      if (i < n) out[i] = v[k].x;
      if (i + 1 < n) out[i + 1] = v[k].y;
      if (i + 2 < n) out[i + 2] = v[k].z;
      if (i + 3 < n) out[i + 3] = v[k].w;
    }
  }
}

void block_scan(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* sums, std::size_t n, void*, std::size_t,
                cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
  block_scan_kernel<<<tiles, kThreads, 0, stream>>>(in, out, sums, n);
}
// END(block_scan)
