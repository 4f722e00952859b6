// Style: places from cg::coalesced_threads(), the tile collected in shared memory, prefixes passed on by atomics only.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "warp_shuffle.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 256, kItems = 32, kTile = kThreads * kItems, kWarps = kThreads / 32;
constexpr unsigned kKnown = 1u << 31;

// in: n floats; out: room for n; count: 1; prefixes: tiles + 1 words, 0 before, the last for tickets
__global__ void __launch_bounds__(kThreads)
    compact_tiles(const float* __restrict__ in, float* __restrict__ out, std::uint32_t* count, std::size_t n,
                  unsigned* prefixes, unsigned tiles) {
  __shared__ float kept[kTile];
  __shared__ unsigned of_warp[kWarps];
  __shared__ unsigned message;
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned lane = warp.thread_rank(), w = warp.meta_group_rank();
  if (block.thread_rank() == 0) message = atomicAdd(&prefixes[tiles], 1u);
  block.sync();
  const unsigned tile = message;

  float x[kItems];
  unsigned place[kItems];
  unsigned mine = 0;
  const std::size_t first = static_cast<std::size_t>(tile) * kTile + w * (32 * kItems) + lane;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const std::size_t i = first + 32 * k;
    x[k] = i < n ? in[i] : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    place[k] = ~0u;
    unsigned kept_now = 0;
    if (x[k] > 0) {
      const cg::coalesced_group keepers = cg::coalesced_threads();
      place[k] = mine + keepers.thread_rank();
      kept_now = keepers.size();
    }
    warp.sync();
    mine += warp.shfl(kept_now, __ffs(warp.ballot(kept_now > 0) | 1u << 31) - 1);
  }
  if (lane == 0) of_warp[w] = mine;
  block.sync();
  const unsigned sums = lane < kWarps ? of_warp[lane] : 0;
  const unsigned upto = cg::inclusive_scan(warp, sums);
  const unsigned total = warp.shfl(upto, kWarps - 1);
  const unsigned below = warp.shfl(upto - sums, w);
#pragma unroll
  for (int k = 0; k < kItems; ++k)
    if (place[k] != ~0u) kept[below + place[k]] = x[k];
  if (block.thread_rank() == 0) {
    unsigned before = 0;
    if (tile > 0)
      while (((before = atomicOr(&prefixes[tile - 1], 0u)) & kKnown) == 0) __nanosleep(20);
    before &= ~kKnown;
    atomicExch(&prefixes[tile], kKnown | (before + total));
    message = before;
    if (tile == tiles - 1) *count = before + total;
  }
  block.sync();
  const unsigned start = message;
  // Warps begin at multiples of 32 floats of `out`.
  for (unsigned i = block.thread_rank(); i < total + start % 32; i += kThreads)
    if (i >= start % 32) out[start - start % 32 + i] = kept[i - start % 32];
}

}  // namespace

void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace, std::size_t,
             cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
  auto* prefixes = static_cast<unsigned*>(workspace);
  cudaMemsetAsync(prefixes, 0, (tiles + 1) * sizeof(unsigned), stream);
  compact_tiles<<<tiles, kThreads, 0, stream>>>(in, out, count, n, prefixes, tiles);
}
