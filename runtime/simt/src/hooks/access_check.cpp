// Before an access that no hook announced, instrumented code calls __ridge_check_access with the address in %r11 and,
// on the stack, the bytes (and 256 for a store). In a kernel it is then counted and checked as if a hook had been
// called, unless it is of the thread's own stack, or the hook's after all.
#include <cstdint>

#include "block/block.hpp"

namespace ridge::simt {

bool BlockRunner::unannounced(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  auto inside = [&](std::uintptr_t begin, std::uintptr_t size) {
    return address - begin <= size && bytes <= size - (address - begin);
  };
  const std::uintptr_t stack = stacks_.stack_begin(current_->slot);
  if (inside(stack, kFiberStackBytes)) {
    if (!own_stack(address, bytes)) foreign_stack(pc);
    local_access(bytes, store);
    if (launch_->sanitize && async_) async_->local_accessed(address, bytes, store, pc_offset(pc));
    return false;
  }
  if (address - (stack - FiberStacks::kSlotBytes) < FiberStacks::kSlotBytes) crashed(address, pc);  // too large a frame
  return !inside(announced_[store].address, announced_[store].bytes);
}

}  // namespace ridge::simt

#if defined(__x86_64__)
// Host code leaves at once. All registers and the flags are kept; jrcxz and lea do not change these.
asm(R"(
.text
.p2align 4
.globl __ridge_check_access
.type __ridge_check_access,@function
__ridge_check_access:
  pushq %rcx
  movq _ZN5ridge4simt10tls_runnerE@gottpoff(%rip), %rcx
  movq %fs:(%rcx), %rcx
  jrcxz 1f
  jmp 2f
1:
  popq %rcx
  ret
2:
  popq %rcx
  pushfq
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %r10
  subq $264, %rsp
  andq $-16, %rsp
  cld
  movq %r11, 256(%rsp)
  movq %r11, %rdi
  movq 24(%rbp), %rsi
  call ridge_access_is_settled@PLT
  testb %al, %al
  jne 3f
  movq 256(%rsp), %r11
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movups %xmm8, 128(%rsp)
  movups %xmm9, 144(%rsp)
  movups %xmm10, 160(%rsp)
  movups %xmm11, 176(%rsp)
  movups %xmm12, 192(%rsp)
  movups %xmm13, 208(%rsp)
  movups %xmm14, 224(%rsp)
  movups %xmm15, 240(%rsp)
  movq %r11, %rdi
  movq 24(%rbp), %rsi
  movq 16(%rbp), %rdx
  call ridge_check_access@PLT
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  movups 128(%rsp), %xmm8
  movups 144(%rsp), %xmm9
  movups 160(%rsp), %xmm10
  movups 176(%rsp), %xmm11
  movups 192(%rsp), %xmm12
  movups 208(%rsp), %xmm13
  movups 224(%rsp), %xmm14
  movups 240(%rsp), %xmm15
3:
  leaq -64(%rbp), %rsp
  popq %r10
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  popq %rbp
  popfq
  ret
.size __ridge_check_access,.-__ridge_check_access
)");
#endif
