// Signals that kernels raise; and a sentence for a segmentation fault of host code.
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "block/block.hpp"
#include "device/divide_trap.hpp"
#include "device/fault.hpp"
#include "device/program.hpp"

namespace ridge::simt {

namespace {

struct sigaction previous_segv, previous_fpe;

// Runs on the runner's emergency stack, after the handler has returned into it.
void continue_crashed(std::uintptr_t address, std::uintptr_t pc) { BlockRunner::current()->crashed(address, pc); }

void write_error(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

// The line is looked for in a child: whatever the fault left locked stops the child alone, and not for long.
void say_line(std::uintptr_t pc) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    const Program& p = Program::instance();
    const std::uint32_t own = p.own_code(pc) ? static_cast<std::uint32_t>(pc - p.base) : p.own_caller(callers_here());
    const std::string where = own != 0 ? source_of(own) : "";
    if (!where.empty()) write_error("  at " + where + "\n");
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

void say_host_fault(std::uintptr_t address, std::uintptr_t pc) {
  constexpr std::uintptr_t kNullPage = 4096;
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return;  // a judge tells it
  write_error("ridge: segmentation fault in host code\n");
  say_line(pc);
  write_error(address < kNullPage
                  ? "  it follows a null pointer, reads threadIdx or the like, or calls a kernel without <<<...>>>\n"
                  : "  it follows a pointer to memory that is not there (freed, or past an array's end)\n");
}

void handler(int signal, siginfo_t* info, void* raw) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) {
#if defined(__x86_64__)
    const auto pc = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_RIP]);
#else
    const std::uintptr_t pc = 0;
#endif
    if (info->si_code > 0) say_host_fault(reinterpret_cast<std::uintptr_t>(info->si_addr), pc);
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

// Host code may fault before the first launch, too.
[[gnu::constructor]] void install_early() {
  if (std::getenv("RIDGE_QUIET_FAULTS") == nullptr) install_segv_handler();
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
