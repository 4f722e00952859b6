// Where the lanes of a warp wait for each other: warp operations, __activemask(), and places where requests are
// counted.
#include <bit>

#include "block/block.hpp"

namespace ridge::simt {

void BlockRunner::collective(const char* name, unsigned mask, void (*work)(void* const*, unsigned), void* argument,
                             std::uintptr_t pc) {
  Wait& w = wait_of(*current_);
  w.name = name;
  w.file = nullptr;
  w.pc = pc;
  w.mask = mask;
  w.work = work;
  w.argument = argument;
  unsigned self = current_->linear % kWarpSize;
  if ((mask >> self & 1) == 0) {
    Fault f;
    f.kind = std::string(name) + ": own lane not in the mask";
    char text[96];
    std::snprintf(text, sizeof text, "lane %u calls it with mask 0x%08x, which does not name it", self, mask);
    f.detail = text;
    f.pc = static_cast<std::uint32_t>(pc - program_.base);
    f.error = 719;
    fault(std::move(f));
  }
  wait(State::at_collective);
}

unsigned BlockRunner::live_lanes() const {
  unsigned warp = (current_ != nullptr ? current_ : last_)->linear / kWarpSize, mask = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    unsigned linear = warp * kWarpSize + l;
    if (linear < thread_count_ && threads_[linear].state != State::done) mask |= 1u << l;
  }
  return mask;
}

// Runs the operations whose lanes are all there. False where there were none.
bool BlockRunner::release_collectives(unsigned warp) {
  bool released = false;
  unsigned seen = 0;
  for (unsigned l = 0; l < kWarpSize && !faulted_; ++l) {
    Thread* t = lane(warp, l);
    if (t == nullptr || t->state != State::at_collective || (seen >> l & 1) != 0) continue;
    const Wait& w = wait_of(*t);
    void* arguments[kWarpSize] = {};
    unsigned present = 0;
    bool complete = true;
    for (unsigned mask = w.mask; mask != 0 && complete; mask &= mask - 1) {
      auto m = static_cast<unsigned>(std::countr_zero(mask));
      Thread* other = lane(warp, m);
      if (other == nullptr || other->state == State::done) continue;
      complete =
          other->state == State::at_collective && wait_of(*other).mask == w.mask && wait_of(*other).work == w.work;
      if (!complete) break;
      arguments[m] = wait_of(*other).argument;
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
      Thread* other = lane(warp, static_cast<unsigned>(std::countr_zero(present)));
      other->state = State::ready;
      other->spins = 0;
    }
    released = true;
  }
  return released;
}

// Nothing else in the warp can move: lanes at the same __activemask() in the same iteration are converged.
bool BlockRunner::release_converged(unsigned warp) {
  bool released = false;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = lane(warp, l);
    if (t == nullptr || t->state != State::at_converged) continue;
    unsigned together = 0;
    for (unsigned m = l; m < kWarpSize; ++m) {
      Thread* other = lane(warp, m);
      if (other != nullptr && other->state == State::at_converged && wait_of(*other).pc == wait_of(*t).pc &&
          path_of(*other).hash() == path_of(*t).hash())
        together |= 1u << m;
    }
    for (unsigned rest = together; rest != 0; rest &= rest - 1) {
      Thread* other = lane(warp, static_cast<unsigned>(std::countr_zero(rest)));
      wait_of(*other).converged = together;
      other->state = State::ready;
    }
    released = true;
  }
  return released;
}

unsigned BlockRunner::converged(std::uintptr_t pc) {
  wait_of(*current_).name = "__activemask()";
  wait_of(*current_).file = nullptr;
  wait_of(*current_).pc = pc;
  wait(State::at_converged);
  return wait_of(*current_).converged;
}

// All lanes have come to the target or wait before it: what was recorded is complete. Where lanes wait for others to
// converge, the parked ones go on instead, and nothing is counted yet.
bool BlockRunner::release_parked(unsigned warp) {
  bool any = false, converging = false;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (Thread* t = lane(warp, l); t != nullptr) {
      any |= t->state == State::parked;
      converging |= t->state == State::at_converged;
    }
  if (!any) return false;
  target_ = nullptr;
  no_parking_ = converging;
  if (!converging) recorder_.flush(*counters_, cache_, recorded_warp(warp));
  for (unsigned l = 0; l < kWarpSize; ++l)
    if (Thread* t = lane(warp, l); t != nullptr && t->state == State::parked) t->state = State::ready;
  return true;
}

// Called at a basic block's start once many requests wait to be counted.
void BlockRunner::maybe_park() {
  if (no_parking_) {
    if (!recorder_.full()) no_parking_ = false;
    return;
  }
  const Path& here = path_of(*current_);
  if (target_ == nullptr) {
    // Lanes that are here or further already would have their requests cut in two.
    if (!recorder_.overfull())
      for (unsigned i = 0; i < kWarpSize; ++i) {
        Thread* t = lane(warp_, lane_at(i));
        if (t != nullptr && t != current_ && t->state != State::unstarted && !path_of(*t).before(here)) return;
      }
    target_path_ = here;
    target_ = &target_path_;
  } else if (here.before(*target_)) {
    return;
  }
  wait(State::parked);
}

}  // namespace ridge::simt
