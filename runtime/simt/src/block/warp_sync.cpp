// Lanes of a warp wait for each other: warp operations and __activemask().
#include <bit>
#include <cstdio>

#include "block/warp_scheduler.hpp"

namespace ridge::simt {

void WarpScheduler::collective(const char* name, unsigned mask, void (*work)(void* const*, unsigned), void* argument,
                               std::uintptr_t pc) {
  Wait& w = threads_.wait_of(*current_);
  w.name = name;
  w.file = nullptr;
  w.pc = pc;
  w.mask = mask;
  w.work = work;
  w.argument = argument;
  unsigned self = current_->linear % kWarpSize;
  if ((mask >> self & 1) == 0) {
    Fault f;
    f.cause = Cause::warp_mask;
    f.kind = std::string(name) + ": own lane not in the mask";
    char text[96];
    std::snprintf(text, sizeof text, "lane %u calls it with mask 0x%08x, which does not name it", self, mask);
    f.detail = text;
    f.error = 719;  // cudaErrorLaunchFailure
    fault(std::move(f), pc);
  }
  wait(ThreadState::at_collective);
}

// Runs the operations whose lanes are all there. False where there were none.
bool WarpScheduler::release_collectives(unsigned warp) {
  bool released = false;
  unsigned seen = 0;
  for (unsigned l = 0; l < kWarpSize && !faulted_; ++l) {
    Thread* t = threads_.lane(warp, l);
    if (t == nullptr || threads_.state(*t) != ThreadState::at_collective || (seen >> l & 1) != 0) continue;
    const Wait& w = threads_.wait_of(*t);
    void* arguments[kWarpSize] = {};
    unsigned present = 0;
    bool complete = true;
    for (unsigned mask = w.mask; mask != 0 && complete; mask &= mask - 1) {
      auto m = static_cast<unsigned>(std::countr_zero(mask));
      Thread* other = threads_.lane(warp, m);
      if (other == nullptr || threads_.state(*other) == ThreadState::done) continue;
      complete = threads_.state(*other) == ThreadState::at_collective && threads_.wait_of(*other).mask == w.mask &&
                 threads_.wait_of(*other).work == w.work;
      if (!complete) break;
      arguments[m] = threads_.wait_of(*other).argument;
      present |= 1u << m;
    }
    seen |= present;
    if (!complete) continue;
    last_ = t;
    w.work(arguments, present);
    if (faulted_) return true;
    ++counters_->warp_operations;
    if (launch_->sanitize) sanitizer_.warp_sync(warp, present);
    for (; present != 0; present &= present - 1) {
      Thread* other = threads_.lane(warp, static_cast<unsigned>(std::countr_zero(present)));
      threads_.state(*other) = ThreadState::ready;
    }
    released = true;
  }
  return released;
}

// Nothing else in the warp can move: lanes at the same __activemask() in the same iteration are converged.
bool WarpScheduler::release_converged(unsigned warp) {
  bool released = false;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = threads_.lane(warp, l);
    if (t == nullptr || threads_.state(*t) != ThreadState::at_converged) continue;
    unsigned together = 0;
    for (unsigned m = l; m < kWarpSize; ++m) {
      Thread* other = threads_.lane(warp, m);
      if (other != nullptr && threads_.state(*other) == ThreadState::at_converged &&
          threads_.wait_of(*other).pc == threads_.wait_of(*t).pc &&
          threads_.path_of(*other).hash() == threads_.path_of(*t).hash())
        together |= 1u << m;
    }
    for (unsigned rest = together; rest != 0; rest &= rest - 1) {
      Thread* other = threads_.lane(warp, static_cast<unsigned>(std::countr_zero(rest)));
      threads_.wait_of(*other).converged = together;
      threads_.state(*other) = ThreadState::ready;
    }
    released = true;
  }
  return released;
}

unsigned WarpScheduler::converged(std::uintptr_t pc) {
  threads_.wait_of(*current_).name = "__activemask()";
  threads_.wait_of(*current_).file = nullptr;
  threads_.wait_of(*current_).pc = pc;
  wait(ThreadState::at_converged);
  return threads_.wait_of(*current_).converged;
}

bool WarpScheduler::has_woken(unsigned warp) {
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (const Thread* t = threads_.lane(warp, l); t != nullptr && threads_.state(*t) == ThreadState::ready) return true;
  return false;
}

bool WarpScheduler::release_yielded(unsigned warp) {
  bool released = false;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (Thread* t = threads_.lane(warp, l); t != nullptr && threads_.state(*t) == ThreadState::yielded) {
      threads_.state(*t) = ThreadState::ready;
      released = true;
    }
  return released;
}

}  // namespace ridge::simt
