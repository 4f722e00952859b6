// The order of accesses: the clock of the block that runs, which ticks at every synchronisation, and the times up to
// which its threads know each other's accesses. sanitizer.hpp lists what orders two accesses.
#pragma once
#include <cstdint>

#include "ridge_simt/device.h"
#include "sanitize/access.hpp"
#include "sanitize/shadow.hpp"

namespace ridge::simt {

using ridge_simt::kRelease;
constexpr unsigned kSanitizedLanes = 32, kSanitizedWarps = 32;

class Order {
 public:
  void begin_block(std::uint64_t launch, std::uint64_t block, unsigned threads);
  void access(const LaneAccess& a);
  void barrier() { last_barrier_ = ++clock_; }
  void warp_sync(unsigned warp, unsigned mask);
  void grid_sync();
  void fence(unsigned thread, int scope);  // as ridge_simt::fence
  void acquire(unsigned thread);

  std::uint32_t now() const { return clock_; }
  // Cells of another era hold accesses that are ordered before all of this block.
  std::uint32_t era(bool shared) const { return shared ? shared_era_ : global_era_; }
  bool ordered(const Seen& old, const Seen& now) const;
  // A reader of this block that nothing can conflict with any more.
  bool stale(const Seen& reader) const {
    return reader.kind == Seen::none ||
           (reader.block == static_cast<std::uint32_t>(block_) && reader.time < last_barrier_);
  }
  // Whether all lanes of the warp have met since this access of one of them.
  bool met_since(const Seen& old, unsigned warp) const { return old.time < full_sync_[warp]; }

 private:
  void signal();

  static constexpr unsigned kLanes = kSanitizedLanes, kWarps = kSanitizedWarps, kThreads = kLanes * kWarps;

  std::uint64_t launch_ = 0, block_ = 0;
  unsigned threads_ = 0;  // number in a block
  std::uint32_t shared_era_ = 0, global_era_ = 0, grid_epoch_ = 0;

  std::uint32_t clock_ = 1;
  std::uint32_t last_barrier_ = 1;
  std::uint32_t full_sync_[kWarps] = {};  // last meeting of all lanes of a warp
  // [warp][lane][other]: the time up to which `lane` knows `other`, by chains of meetings.
  std::uint32_t known_[kWarps][kLanes][kLanes] = {};
  bool partial_[kWarps] = {};  // known_[warp] is in use
  std::uint32_t fence_time_[kThreads] = {};
  // The block's last fence for other blocks; 0 once an atomic or a volatile store has followed it.
  std::uint32_t unsignalled_ = 0;
  std::uint32_t acquire_time_[kWarps] = {};
  bool fenced_ = false, acquired_ = false;
  bool acquiring_[kThreads] = {};  // the thread's last access was an atomic or a volatile load
};

}  // namespace ridge::simt
