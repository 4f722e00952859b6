// Style: decoupled look-back of a whole warp over volatile 64-bit words, summed by __reduce_add_sync.
#include "warp_shuffle.hpp"

namespace {

constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kWarps = 8, kRows = 8, kRow = 128, kTile = kWarps * kRows * kRow;
enum Status : unsigned { kEmpty = 0, kSum = 1, kPrefix = 2 };

__device__ unsigned long long pack(Status s, std::uint32_t v) { return (static_cast<unsigned long long>(s) << 32) | v; }

__device__ std::uint32_t look_back(const volatile unsigned long long* words, int tile) {
  const int lane = threadIdx.x % 32;
  std::uint32_t before = 0;
  for (int last = tile - 1;; last -= 32) {
    unsigned long long w = pack(kPrefix, 0);
    if (last - lane >= 0) do {
        w = words[last - lane];
      } while ((w >> 32) == kEmpty);
    const unsigned known = __ballot_sync(kAll, (w >> 32) == kPrefix);
    const int stop = known != 0 ? __ffs(known) - 1 : 31;
    before += __reduce_add_sync(kAll, lane <= stop ? static_cast<std::uint32_t>(w) : 0u);
    if (known != 0) return before;
  }
}

// in, out: n numbers; words: one for each tile, 0 before; ticket: 0 before
__global__ void __launch_bounds__(32 * kWarps) scan_tiles(const std::uint32_t* in, std::uint32_t* out, std::size_t n,
                                                          unsigned long long* words, unsigned* ticket) {
  __shared__ std::uint32_t sums[kWarps];
  __shared__ std::uint32_t shared_tile, shared_prefix;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const std::uint32_t tile = shared_tile;
  const std::size_t first = static_cast<std::size_t>(tile) * kTile + warp * kRows * kRow + lane * 4;

  uint4 v[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const std::size_t i = first + r * kRow;
    if (i + 4 <= n) {
      v[r] = *reinterpret_cast<const uint4*>(in + i);
    } else {
      v[r] = make_uint4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
    }
  }
  std::uint32_t carry = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    v[r].y += v[r].x, v[r].z += v[r].y, v[r].w += v[r].z;
    std::uint32_t inclusive = v[r].w;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const std::uint32_t below = __shfl_up_sync(kAll, inclusive, d);
      if (lane >= d) inclusive += below;
    }
    const std::uint32_t add = carry + inclusive - v[r].w;
    v[r].x += add, v[r].y += add, v[r].z += add, v[r].w += add;
    carry += __shfl_sync(kAll, inclusive, 31);
  }
  if (lane == 0) sums[warp] = carry;
  __syncthreads();
  const std::uint32_t sum = lane < kWarps ? sums[lane] : 0;
  const std::uint32_t below = __reduce_add_sync(kAll, lane < warp ? sum : 0u);
  if (warp == 0) {
    const std::uint32_t total = __reduce_add_sync(kAll, sum);
    volatile unsigned long long* const mine = words + tile;
    if (lane == 0) *mine = pack(tile == 0 ? kPrefix : kSum, total);
    const std::uint32_t before = look_back(words, static_cast<int>(tile));
    if (lane == 0) {
      *mine = pack(kPrefix, before + total);
      shared_prefix = before;
    }
  }
  __syncthreads();
  const std::uint32_t add = shared_prefix + below;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const std::size_t i = first + r * kRow;
    const uint4 w = make_uint4(v[r].x + add, v[r].y + add, v[r].z + add, v[r].w + add);
    if (i + 4 <= n) {
      *reinterpret_cast<uint4*>(out + i) = w;
    } else {
      if (i < n) out[i] = w.x;
      if (i + 1 < n) out[i + 1] = w.y;
      if (i + 2 < n) out[i + 2] = w.z;
    }
  }
}

}  // namespace

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t,
          cudaStream_t stream) {
  const std::size_t tiles = (n + kTile - 1) / kTile;
  auto* words = static_cast<unsigned long long*>(workspace);
  auto* ticket = reinterpret_cast<unsigned*>(words + tiles);
  cudaMemsetAsync(workspace, 0, (tiles + 1) * sizeof *words, stream);
  scan_tiles<<<static_cast<unsigned>(tiles), 32 * kWarps, 0, stream>>>(in, out, n, words, ticket);
}
