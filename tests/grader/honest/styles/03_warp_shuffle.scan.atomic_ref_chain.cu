// Style: cuda::atomic_ref with acquire and release, a serial look-back by one thread, cg::inclusive_scan in the warps.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>

#include "warp_shuffle.hpp"

namespace cg = cooperative_groups;

namespace {

using u32 = std::uint32_t;
using u64 = unsigned long long;
using Flag = cuda::atomic_ref<u64, cuda::thread_scope_device>;

constexpr u64 kReady = 1ull << 32, kFinal = 2ull << 32;
constexpr int kThreads = 128, kVectors = 16;
constexpr std::size_t kTile = std::size_t{kThreads} * kVectors * 4;

// in, out: n numbers; state: tiles + 1 words, all 0 before; the last one hands out tickets
__global__ void __launch_bounds__(kThreads)
    scan_chain(const u32* __restrict__ in, u32* __restrict__ out, std::size_t n, u64* state, unsigned tiles) {
  __shared__ u32 of_warp[kThreads / 32];
  __shared__ u32 broadcast;
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned lane = warp.thread_rank(), w = warp.meta_group_rank();

  if (block.thread_rank() == 0)
    broadcast = static_cast<u32>(Flag(state[tiles]).fetch_add(1, cuda::memory_order_relaxed));
  block.sync();
  const u32 tile = broadcast;
  const std::size_t first = tile * kTile + w * (kVectors * 128u) + lane * 4;

  u32 x[kVectors][4];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const std::size_t i = first + 128u * k;
    if (i + 3 < n) {
      const uint4 q = *reinterpret_cast<const uint4*>(&in[i]);
      x[k][0] = q.x, x[k][1] = q.y, x[k][2] = q.z, x[k][3] = q.w;
    } else {
      for (int j = 0; j < 4; ++j) x[k][j] = i + j < n ? in[i + j] : 0;
    }
  }
  u32 running = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    for (int j = 1; j < 4; ++j) x[k][j] += x[k][j - 1];
    const u32 upto = cg::inclusive_scan(warp, x[k][3], cg::plus<u32>());
    const u32 base = running + upto - x[k][3];
    for (int j = 0; j < 4; ++j) x[k][j] += base;
    running += warp.shfl(upto, 31);
  }
  if (lane == 0) of_warp[w] = running;
  block.sync();
  u32 before_warp = 0, total = 0;
  if (lane < kThreads / 32) total = of_warp[lane];
  const u32 scanned = cg::inclusive_scan(warp, total, cg::plus<u32>());
  before_warp = w == 0 ? warp.shfl(scanned, 0) * 0 : warp.shfl(scanned, w - 1);
  total = warp.shfl(scanned, kThreads / 32 - 1);

  if (block.thread_rank() == 0) {
    u32 before = 0;
    if (tile > 0) {
      Flag(state[tile]).store(kReady | total, cuda::memory_order_release);
      for (u32 t = tile; t-- > 0;) {
        Flag theirs(state[t]);
        u64 seen = theirs.load(cuda::memory_order_acquire);
        while (seen < kReady) seen = theirs.load(cuda::memory_order_acquire);
        before += static_cast<u32>(seen);
        if (seen >= kFinal) break;
      }
    }
    Flag(state[tile]).store(kFinal | static_cast<u32>(before + total), cuda::memory_order_release);
    broadcast = before;
  }
  block.sync();
  const u32 base = broadcast + before_warp;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const std::size_t i = first + 128u * k;
    if (i + 3 < n)
      *reinterpret_cast<uint4*>(&out[i]) = {x[k][0] + base, x[k][1] + base, x[k][2] + base, x[k][3] + base};
    else
      for (int j = 0; j < 4; ++j)
        if (i + j < n) out[i + j] = x[k][j] + base;
  }
}

}  // namespace

void scan(const u32* in, u32* out, std::size_t n, void* workspace, std::size_t, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
  auto* state = static_cast<u64*>(workspace);
  cudaMemsetAsync(state, 0, sizeof(u64) * (tiles + 1), stream);
  scan_chain<<<tiles, kThreads, 0, stream>>>(in, out, n, state, tiles);
}
