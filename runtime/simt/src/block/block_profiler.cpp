#include "block/block_profiler.hpp"

#include <memory>

#include "count/warp_log.hpp"

namespace ridge::simt {

void BlockProfiler::begin_block(const Launch& launch, std::uint64_t linear_block, KernelCounters& counters) {
  counters_ = &counters;
  cache_.begin_block(launch.l1_bytes);
  ++counters.blocks;
  counters.warps += threads_.warps();
  repetitions_.clear();
  if (!launch.warps) return;
  if (counters.warp == nullptr) counters.warp = std::make_shared<WarpLog>();
  counters.warp->begin_block(linear_block);
}

// Called at a basic block's start once many requests wait to be counted.
bool BlockProfiler::parks(const Thread& t) {
  if (postponed_) {
    if (!recorder_.full()) postponed_ = false;
    return false;
  }
  const Path& here = threads_.path_of(t);
  if (flush_point_ != nullptr) return !here.before(*flush_point_);
  // Lanes that are here already, or further, would have their requests cut in two.
  if (!recorder_.overfull())
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const Thread* other = threads_.lane(t.linear / kWarpSize, l);
      if (other == nullptr || other == &t || threads_.state(*other) == ThreadState::unstarted) continue;
      if (!threads_.path_of(*other).before(here)) return false;
    }
  flush_path_ = here;
  flush_point_ = &flush_path_;
  return true;
}

bool BlockProfiler::release_parked(unsigned warp) {
  bool any = false, converging = false;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (const Thread* t = threads_.lane(warp, l); t != nullptr) {
      any |= threads_.state(*t) == ThreadState::parked;
      converging |= threads_.state(*t) == ThreadState::at_converged;
    }
  if (!any) return false;
  flush_point_ = nullptr;
  postponed_ = converging;
  if (!converging) flush(warp);
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (Thread* t = threads_.lane(warp, l); t != nullptr && threads_.state(*t) == ThreadState::parked)
      threads_.state(*t) = ThreadState::ready;
  return true;
}

// Programs without block records have no paths: how often this lane has made the access stands for one.
std::uint64_t BlockProfiler::repetition(const Thread& t, std::uintptr_t pc, unsigned part) {
  const unsigned warp = t.linear / kWarpSize, lane = t.linear % kWarpSize;
  return ++repetitions_[(pc << 24) ^ (std::uint64_t{part} << 10) ^ (warp << 5) ^ lane];
}

}  // namespace ridge::simt
