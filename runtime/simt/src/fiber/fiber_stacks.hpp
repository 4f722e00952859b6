// The stacks on which the fibers of one OS thread run: slots of equal size in one mapping, each stack above a guard
// page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fiber/fiber.hpp"

namespace ridge::simt {

class FiberStacks {
 public:
  static constexpr std::size_t kGuardBytes = 4096;
  static constexpr std::size_t kSlotBytes = kGuardBytes + kFiberStackBytes;

  // Ends the program where there is no memory for `slots` stacks.
  explicit FiberStacks(unsigned slots);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // The first `count` slots are free from here on, and guarded. No more are taken at a time.
  void begin(unsigned count);
  int take() {
    if (free_.empty()) return static_cast<int>(taken_++);
    const int slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(int slot) { free_.push_back(slot); }

  // The fiber of a slot, ready to be switched to. A new one starts with entry(argument).
  Fiber fiber(int slot, FiberEntry entry, void* argument);
  // The place at which the slot's fiber was left between two threads that use it.
  void keep(int slot, const Fiber& fiber) { slots_[static_cast<std::size_t>(slot)].fiber = fiber; }
  // The fibers were left in the middle of calls, which nobody will resume.
  void abandon();

  bool contains(std::uintptr_t address) const { return address - begin_ < bytes_; }
  // The lowest addresses of a slot, which begins with its guard page, and of its stack.
  std::uintptr_t slot_begin(int slot) const { return begin_ + static_cast<std::uintptr_t>(slot) * kSlotBytes; }
  std::uintptr_t stack_begin(int slot) const { return slot_begin(slot) + kGuardBytes; }
  // Whether a thread on this slot that reaches `address` has run over its stack: into the guard page or the slot below.
  bool overflows(int slot, std::uintptr_t address) const {
    return address - (slot_begin(slot) - kSlotBytes) < kSlotBytes + kGuardBytes;
  }

 private:
  struct Slot {
    Fiber fiber;
    bool made = false;
  };
  std::uintptr_t begin_ = 0, bytes_ = 0;
  std::vector<Slot> slots_;
  unsigned taken_ = 0;     // slots that were taken since begin()
  std::vector<int> free_;  // those of them that were given back
  unsigned guarded_ = 0;   // slots that have a guard page
};

}  // namespace ridge::simt
