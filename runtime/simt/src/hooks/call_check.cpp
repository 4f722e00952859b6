// Before a call whose target `ridge cc` could not vouch for (through a pointer, or of another object), instrumented
// code calls __ridge_check_call with the target in %r11. A kernel may only go to code that was compiled with
// instrumentation.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "block/block.hpp"
#include "device/program.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

}  // namespace ridge::simt

#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" void ridge_check_call(std::uintptr_t target, std::uintptr_t site) {
  using namespace ridge::simt;
  BlockRunner* r = tls_runner;
  if (r == nullptr || !r->in_kernel()) return;
  const Program& p = Program::instance();
  if (std::binary_search(p.functions.begin(), p.functions.end(), target)) return;
  Fault f;
  f.cause = ridge::Cause::host_function;
  f.kind = "host function called by a kernel";
  Dl_info info;
  const bool named = dladdr(reinterpret_cast<void*>(target), &info) != 0 && info.dli_sname != nullptr;
  f.detail = std::string(named ? info.dli_sname : "the target") +
             " was not compiled for the device: a kernel can call __device__ functions and the math library";
  f.pc = static_cast<std::uint32_t>(site - 1 - p.base);
  f.error = 719;  // cudaErrorLaunchFailure
  r->fault(std::move(f));
}

#if defined(__x86_64__)
// Host code leaves at once. All registers that may hold arguments are kept; the flags and %r11 need not be.
asm(R"(
.text
.p2align 4
.globl __ridge_check_call
.type __ridge_check_call,@function
__ridge_check_call:
  pushq %rax
  movq _ZN5ridge4simt10tls_runnerE@gottpoff(%rip), %rax
  cmpq $0, %fs:(%rax)
  popq %rax
  jne 1f
  ret
1:
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
  pushq %r11
  subq $136, %rsp
  andq $-16, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movq %r11, %rdi
  movq 8(%rbp), %rsi
  call ridge_check_call@PLT
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  leaq -72(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  popq %rbp
  ret
.size __ridge_check_call,.-__ridge_check_call
)");
#endif
