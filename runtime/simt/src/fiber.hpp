// Fibers: one user-space stack per CUDA thread, so that a barrier costs a few nanoseconds.
#pragma once
#include <cstddef>

namespace ridge::simt {

constexpr std::size_t kFiberStackBytes = 64 * 1024;

// A suspended context. A fiber never migrates between OS threads: compilers cache thread-local addresses.
struct Fiber {
  void* context = nullptr;  // saved stack pointer (x86-64) or Boost.Context handle
};

using FiberEntry = void (*)(void* argument);

// Prepares `fiber` to run entry(argument) on [stack, stack + bytes) at the first switch. `entry` never returns:
// it ends by switching away for good.
void fiber_create(Fiber& fiber, void* stack, std::size_t bytes, FiberEntry entry, void* argument);

// Suspends the running context into `from` and resumes `to`.
void fiber_switch(Fiber& from, Fiber& to);

}  // namespace ridge::simt
