// In judged programs every function calls __ridge_enter first and __ridge_leave before it returns. In a kernel the
// first one keeps the return address, the stack pointer and the saved registers where no kernel can write; the second
// one compares. So a kernel that writes over its own stack cannot go where nothing is counted.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "block/block.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

Frames::Frames() {
  void* p = mmap(nullptr, kSlotWords * 8 * kMaxThreadsPerBlock, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr, "ridge: no memory for the frames of a block's threads\n");
    std::_Exit(3);
  }
  words_ = static_cast<std::uintptr_t*>(p);
}

Frames::~Frames() { munmap(words_, kSlotWords * 8 * kMaxThreadsPerBlock); }

static_assert(offsetof(Thread, frames) == 16 && offsetof(Thread, first_frame) == 24 &&
              offsetof(Thread, frames_end) == 32);

}  // namespace ridge::simt

#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" [[noreturn]] void ridge_frame_fault(std::uintptr_t site, bool too_deep) {
  using namespace ridge::simt;
  tls_runner->frame_fault(site - 1, too_deep);
  std::abort();
}

#if defined(__x86_64__)
// All registers but %r11 and the flags are kept. Of the runner, the first word is the current thread.
asm(R"(
.text
.p2align 4
.globl __ridge_enter
.type __ridge_enter,@function
__ridge_enter:
  pushq %rax
  movq _ZN5ridge4simt10tls_runnerE@gottpoff(%rip), %rax
  movq %fs:(%rax), %rax
  testq %rax, %rax
  je 1f
  movq (%rax), %rax
  testq %rax, %rax
  je 1f
  movq 16(%rax), %r11
  cmpq 32(%rax), %r11
  jae 2f
  addq $64, 16(%rax)
  movq 16(%rsp), %rax
  movq %rax, (%r11)
  movq %rsp, 8(%r11)
  movq %rbx, 16(%r11)
  movq %rbp, 24(%r11)
  movq %r12, 32(%r11)
  movq %r13, 40(%r11)
  movq %r14, 48(%r11)
  movq %r15, 56(%r11)
1:
  popq %rax
  ret
2:
  movq 8(%rsp), %rdi
  movl $1, %esi
  andq $-16, %rsp
  call ridge_frame_fault@PLT
.size __ridge_enter,.-__ridge_enter

.p2align 4
.globl __ridge_leave
.type __ridge_leave,@function
__ridge_leave:
  pushq %rax
  movq _ZN5ridge4simt10tls_runnerE@gottpoff(%rip), %rax
  movq %fs:(%rax), %rax
  testq %rax, %rax
  je 1f
  movq (%rax), %rax
  testq %rax, %rax
  je 1f
  movq 16(%rax), %r11
  cmpq 24(%rax), %r11
  je 2f
  subq $64, %r11
  movq %r11, 16(%rax)
  movq 16(%rsp), %rax
  cmpq %rax, (%r11)
  jne 2f
  cmpq %rsp, 8(%r11)
  jne 2f
  cmpq %rbx, 16(%r11)
  jne 2f
  cmpq %rbp, 24(%r11)
  jne 2f
  cmpq %r12, 32(%r11)
  jne 2f
  cmpq %r13, 40(%r11)
  jne 2f
  cmpq %r14, 48(%r11)
  jne 2f
  cmpq %r15, 56(%r11)
  jne 2f
1:
  popq %rax
  ret
2:
  movq 8(%rsp), %rdi
  xorl %esi, %esi
  andq $-16, %rsp
  call ridge_frame_fault@PLT
.size __ridge_leave,.-__ridge_leave
)");
#endif
