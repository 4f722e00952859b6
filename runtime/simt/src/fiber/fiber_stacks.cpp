#include "fiber/fiber_stacks.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace ridge::simt {

namespace {

// Stacks begin at different offsets in their pages, or all would compete for the same cache sets.
constexpr std::size_t kStaggerBytes = 5 * 64;
// Limit for all blocks together: each guard page splits a mapping, and the kernel limits the number of mappings.
constexpr unsigned kMaxGuards = 24000;
std::atomic<unsigned> guards{0};

}  // namespace

FiberStacks::FiberStacks(unsigned slots) : bytes_(kSlotBytes * slots), slots_(slots) {
  void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr, "ridge: no memory for the stacks of a block's threads\n");
    std::_Exit(3);
  }
  begin_ = reinterpret_cast<std::uintptr_t>(p);
}

FiberStacks::~FiberStacks() {
  munmap(reinterpret_cast<void*>(begin_), bytes_);
  guards -= guarded_;
}

void FiberStacks::begin(unsigned count) {
  for (; guarded_ < count && guards < kMaxGuards; ++guarded_, ++guards)
    mprotect(reinterpret_cast<void*>(slot_begin(static_cast<int>(guarded_))), kGuardBytes, PROT_NONE);
  taken_ = 0;
  free_.clear();
}

Fiber FiberStacks::fiber(int slot, FiberEntry entry, void* argument) {
  const auto number = static_cast<std::size_t>(slot);
  Slot& s = slots_[number];
  if (s.made) return s.fiber;
  Fiber made;
  fiber_create(made, reinterpret_cast<void*>(stack_begin(slot)),
               kFiberStackBytes - number * kStaggerBytes % kGuardBytes, entry, argument);
  s.made = true;
  return made;
}

void FiberStacks::abandon() {
  for (Slot& s : slots_) s.made = false;
}

}  // namespace ridge::simt
