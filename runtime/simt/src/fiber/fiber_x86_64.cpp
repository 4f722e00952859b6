// The first entry into a fiber, for the System V x86-64 ABI. The switch itself is inline: fiber.hpp.
#include "fiber/fiber.hpp"

#if defined(__x86_64__) && !defined(RIDGE_FIBER_BOOST)

#include <cstdint>

extern "C" void ridge_fiber_start();

asm(R"(
.text
.p2align 4
.globl ridge_fiber_start
.hidden ridge_fiber_start
.type ridge_fiber_start,@function
# On the stack: argument, entry.
ridge_fiber_start:
  popq %rdi
  popq %rax
  xorl %ebp, %ebp
  callq *%rax
  ud2
.size ridge_fiber_start,.-ridge_fiber_start
)");

namespace ridge::simt {

void fiber_create(Fiber& fiber, void* stack, std::size_t bytes, FiberEntry entry, void* argument) {
  auto top = (reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t{15};
  auto* sp = reinterpret_cast<std::uintptr_t*>(top);
  *--sp = reinterpret_cast<std::uintptr_t>(entry);
  *--sp = reinterpret_cast<std::uintptr_t>(argument);
  *--sp = reinterpret_cast<std::uintptr_t>(&ridge_fiber_start);
  fiber.context = sp;
}

}  // namespace ridge::simt

#endif
