// Signals that kernels raise; and a sentence for a segmentation fault of host code.
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>

#include "block/block.hpp"
#include "device/divide_trap.hpp"
#include "device/host_fault.hpp"

namespace ridge::simt {

namespace {

struct sigaction previous_segv, previous_fpe;

// Runs on the runner's emergency stack, after the handler has returned into it.
void continue_crashed(std::uintptr_t address, std::uintptr_t pc) { BlockRunner::current()->crashed(address, pc); }

void handler(int signal, siginfo_t* info, void* raw) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) {
    const auto& machine = static_cast<ucontext_t*>(raw)->uc_mcontext;
#if defined(__x86_64__)
    const auto pc = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
    const auto stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    const auto pc = static_cast<std::uintptr_t>(machine.pc), stack = static_cast<std::uintptr_t>(machine.sp);
#else
    (void)machine;
    const std::uintptr_t pc = 0, stack = 0;
#endif
    if (info->si_code > 0) say_host_fault(reinterpret_cast<std::uintptr_t>(info->si_addr), pc, stack);
    sigaction(signal, &previous_segv, nullptr);  // not ours: it comes again, to whom it belongs
    return;
  }
  auto* context = static_cast<ucontext_t*>(raw);
  auto stack = reinterpret_cast<std::uintptr_t>(r->emergency_stack()) & ~std::uintptr_t{63};
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
#if defined(__x86_64__)
  auto& g = context->uc_mcontext.gregs;
  auto pc = static_cast<std::uintptr_t>(g[REG_RIP]);
  g[REG_RDI] = static_cast<greg_t>(address);
  g[REG_RSI] = static_cast<greg_t>(pc);
  g[REG_RSP] = static_cast<greg_t>(stack - 8);  // as after a call
  g[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&continue_crashed));
#elif defined(__aarch64__)
  auto& m = context->uc_mcontext;
  auto pc = static_cast<std::uintptr_t>(m.pc);
  m.regs[0] = address;
  m.regs[1] = pc;
  m.sp = stack;
  m.pc = reinterpret_cast<std::uintptr_t>(&continue_crashed);
#else
  (void)context, (void)stack, (void)address;
  sigaction(signal, &previous_segv, nullptr);
#endif
}

void division_handler(int signal, siginfo_t*, void* raw) {
  BlockRunner* r = BlockRunner::current();
  if (r != nullptr && r->in_kernel() && finish_division(*static_cast<ucontext_t*>(raw))) return;
  sigaction(signal, &previous_fpe, nullptr);  // not ours: it comes again, to whom it belongs
}

void install(int signal, void (*by)(int, siginfo_t*, void*), struct sigaction& earlier) {
  struct sigaction now {};
  now.sa_sigaction = by;
  now.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&now.sa_mask);
  sigaction(signal, &now, &earlier);
}

void install_segv_handler() {
  static const bool done = [] {
    struct sigaction own {};
    sigaction(SIGSEGV, nullptr, &own);
    if (own.sa_handler == SIG_DFL) install(SIGSEGV, handler, previous_segv);
    return true;
  }();
  (void)done;
}

// Host code may fault before the first launch, too; also by a full stack, on which no handler can run.
[[gnu::constructor]] void install_early() {
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return;
  install_segv_handler();
  stack_t own{};
  if (sigaltstack(nullptr, &own) == 0 && (own.ss_flags & SS_DISABLE) != 0) use_signal_stack();
}

}  // namespace

void install_crash_handler() {
  static const bool done = [] {
    install_segv_handler();
    // Before a handler of the program's: no division of a kernel is an error. Open MPI has one.
    install(SIGFPE, division_handler, previous_fpe);
    return true;
  }();
  (void)done;
}

void use_signal_stack() {
  constexpr std::size_t kBytes = 64 * 1024;
  stack_t stack{};
  stack.ss_sp = std::malloc(kBytes);  // lives as long as the thread
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace ridge::simt
