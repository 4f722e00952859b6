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

#if defined(__x86_64__) && !defined(RIDGE_FIBER_BOOST)
// Suspends the running context into `from` and resumes `to`. Inline, and without a call or a return: the processor's
// return stack stays in step with the fibers' calls, which is worth 20 ns a switch. Its callers are compiled with
// -mno-red-zone (cmake/RidgeBuild.cmake), so that a suspended stack ends in one line of the cache.
[[gnu::always_inline]] inline void fiber_switch(Fiber& from, Fiber& to) {
  void** save = &from.context;
  void* load = to.context;
  asm volatile(
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%[save])\n\t"
      "movq %[load], %%rsp\n\t"
      "popq %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      : [save] "+D"(save), [load] "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "memory", "cc");
}
#else
// Suspends the running context into `from` and resumes `to`.
void fiber_switch(Fiber& from, Fiber& to);
#endif

}  // namespace ridge::simt
