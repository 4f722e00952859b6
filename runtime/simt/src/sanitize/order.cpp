#include "sanitize/order.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace ridge::simt {

namespace {

// Last fence of each block: era in the high half, the block's clock in the low one. Blocks that share an entry lose an
// order only in grids of over four million blocks.
constexpr std::size_t kFenceEntries = std::size_t{1} << 22;
std::atomic<std::uint64_t>& fence_of(std::uint64_t block) {
  static auto* table = static_cast<std::atomic<std::uint64_t>*>(std::calloc(kFenceEntries, sizeof(std::uint64_t)));
  if (table == nullptr) std::abort();
  return table[block % kFenceEntries];
}

}  // namespace

void Order::begin_block(std::uint64_t launch, std::uint64_t block, unsigned threads) {
  launch_ = launch;
  block_ = block;
  threads_ = threads;
  ++shared_era_;
  grid_epoch_ = 0;
  global_era_ = static_cast<std::uint32_t>(launch * 0x9E3779B1u) | 1u;
  clock_ = last_barrier_ = 1;
  unsignalled_ = 0;
  std::fill(std::begin(full_sync_), std::end(full_sync_), 0u);
  for (unsigned w = 0; w < kWarps; ++w)
    if (std::exchange(partial_[w], false)) std::memset(known_[w], 0, sizeof known_[w]);
  if (std::exchange(fenced_, false)) std::fill(std::begin(fence_time_), std::end(fence_time_), 0u);
  std::fill(std::begin(acquire_time_), std::end(acquire_time_), 0u);
  if (std::exchange(acquired_, false)) std::fill(std::begin(acquiring_), std::end(acquiring_), false);
}

void Order::access(const LaneAccess& a) {
  bool& acquiring = acquiring_[a.thread % kThreads];
  // A load that polls may wait, after this call, until another thread has signalled: it has acquired by the next call.
  if (acquiring) acquire_time_[a.thread / kLanes % kWarps] = clock_;
  acquiring = a.kind == AccessKind::atomic || (a.is_volatile && a.kind == AccessKind::load);
  acquired_ |= acquiring;
  // A fence orders what lies before it for those who see a later signal: behind the signal it comes too late.
  if (!a.shared && (a.kind == AccessKind::atomic || (a.is_volatile && a.kind == AccessKind::store))) signal();
}

void Order::signal() {
  if (unsignalled_ == 0) return;
  const std::uint64_t fence = std::exchange(unsignalled_, 0u);
  fence_of(block_).store(std::uint64_t{global_era_} << 32 | fence, std::memory_order_release);
}

void Order::warp_sync(unsigned warp, unsigned mask) {
  const std::uint32_t now = ++clock_;
  const unsigned lanes = std::min(kLanes, threads_ - warp * kLanes);
  if (mask == (lanes == kLanes ? ~0u : (1u << lanes) - 1)) {
    full_sync_[warp] = now;
    return;
  }
  partial_[warp] = true;
  std::uint32_t joined[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    for (unsigned o = 0; o < kLanes; ++o) joined[o] = std::max(joined[o], known_[warp][l][o]);
  }
  for (unsigned l = 0; l < kLanes; ++l)
    if ((mask >> l & 1) != 0) joined[l] = now;
  for (unsigned l = 0; l < kLanes; ++l)
    if ((mask >> l & 1) != 0) std::memcpy(known_[warp][l], joined, sizeof joined);
}

void Order::grid_sync() {
  barrier();
  ++grid_epoch_;
  global_era_ = static_cast<std::uint32_t>(launch_ * 0x9E3779B1u + grid_epoch_ * 0x85EBCA6Bu) | 1u;
}

void Order::fence(unsigned thread, int scope) {
  fenced_ = true;
  const std::uint32_t now = ++clock_;
  fence_time_[thread % kThreads] = now;
  if (scope >= 1) unsignalled_ = now;
  if (scope == kRelease) signal();
}

void Order::acquire(unsigned thread) {
  acquired_ = true;
  acquire_time_[thread / kLanes % kWarps] = ++clock_;
}

bool Order::ordered(const Seen& old, const Seen& now) const {
  if (old.block != now.block) {
    if (!acquired_) return false;
    std::uint64_t fence = fence_of(old.block).load(std::memory_order_acquire);
    return fence >> 32 == global_era_ && static_cast<std::uint32_t>(fence) > old.time;
  }
  if (old.thread == now.thread || old.time < last_barrier_) return true;
  unsigned warp = now.thread / kLanes;
  if (old.thread / kLanes == warp) {
    if (met_since(old, warp)) return true;
    if (partial_[warp] && old.time < known_[warp][now.thread % kLanes][old.thread % kLanes]) return true;
  }
  return fenced_ && fence_time_[old.thread] > old.time && acquire_time_[warp] > old.time;
}

}  // namespace ridge::simt
