// Faults of a block: stacks that overflow or are written over, barriers that never open.
#include <cstdio>
#include <string>

#include "block/block.hpp"

namespace ridge::simt {

void BlockRunner::foreign_stack(std::uintptr_t pc) {
  Fault f;
  f.cause = Cause::foreign_stack;
  f.kind = "access to foreign local memory";
  f.detail = "a thread's local variables are its own: hand values to others through shared memory or shuffles";
  f.error = 700;  // cudaErrorIllegalAddress
  fault(std::move(f), pc);
}

void BlockRunner::frame_fault(std::uintptr_t pc, bool too_deep) {
  Fault f;
  f.cause = Cause::stack;
  f.kind = too_deep ? "stack overflow" : "overwritten stack";
  f.detail = too_deep
                 ? "1000 calls within calls: a GPU's threads have little stack; use a loop"
                 : "a function's return address or saved registers changed: a local array was written past its end";
  f.error = 719;  // cudaErrorLaunchFailure
  fault(std::move(f), pc);
}

// Not a hook: the CPU itself found the access, so it was not instrumented (--plain, a library) or ran over the stack.
void BlockRunner::crashed(std::uintptr_t address, std::uintptr_t pc) {
  Fault f;
  f.pc = pc >= program_.base ? static_cast<std::uint32_t>(pc - program_.base) : 0;
  if (stacks_.overflows(current_->slot, address)) {
    f.cause = Cause::stack;
    f.kind = "stack overflow";
    f.detail = "a thread has " + std::to_string(kFiberStackBytes / 1024) +
               " KiB of stack here: large local arrays or deep recursion need more";
    f.error = 719;
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "0x%zx", address);
    f.cause = Cause::illegal_address;
    f.kind = "illegal access";
    f.detail = std::string("address ") + text + " cannot be read or written; build without --plain to hear more";
  }
  fault(std::move(f));
}

void BlockRunner::divergent_barrier() {
  const Thread* first = &threads_[0];
  while (threads_.state(*first) == ThreadState::done || barrier_.is_divergent(*first)) ++first;
  const Thread& divergent = *barrier_.divergent().back();
  Fault f = fault_of(divergent);
  f.cause = Cause::divergent_barrier;
  f.kind = "divergent barrier";
  // Measured on an H100 with nvcc 13.0: every thread counts, whichever barrier it comes to.
  f.detail =
      describe(*first) + ", " + describe(divergent) +
      ": all threads of a block must come to the same barrier (a GPU may let this pass, and CUDA leaves open what "
      "follows; compute-sanitizer --tool synccheck reports it too)";
  f.file = threads_.wait_of(divergent).file;
  f.line = threads_.wait_of(divergent).line;
  f.error = 719;  // cudaErrorLaunchFailure
  stop(std::move(f));
}

void BlockRunner::deadlock() {
  const Thread *first = nullptr, *second = nullptr;
  unsigned waiting = 0;
  for (unsigned i = 0; i < threads_.size(); ++i) {
    const Thread& t = threads_[i];
    if (threads_.state(t) == ThreadState::done) continue;
    if (first == nullptr) first = &t;
    if (threads_.state(t) == threads_.state(*first))
      ++waiting;
    else if (second == nullptr)
      second = &t;
  }
  if (first == nullptr) return;
  Fault f = fault_of(*first);
  f.cause = Cause::barrier_deadlock;
  f.kind = "deadlock at a barrier";
  f.detail = std::to_string(waiting) + " of " + std::to_string(threads_.size()) + " threads wait there; " +
             (second != nullptr ? describe(*second) : std::string("another block has ended without coming to it"));
  const Wait& wait = place_of(*first);
  if (wait.file != nullptr) {
    f.file = wait.file;
    f.line = wait.line;
  } else {
    f.pc = static_cast<std::uint32_t>(wait.pc - program_.base);
  }
  f.error = 719;  // cudaErrorLaunchFailure
  if (async_) async_->explain(f);
  stop(std::move(f));
}

// Threads poll, and no block has come further for long.
void BlockRunner::endless_wait() {
  for (const Thread& t : threads_) {
    if (threads_.state(t) != ThreadState::ready) continue;
    Fault f = fault_of(t);
    f.cause = Cause::endless_wait;
    f.kind = "endless wait";
    f.detail =
        "threads have polled memory for 10 s and no block came further: what they wait for is written by "
        "nobody, or by a block that cannot start before this one ends";
    f.pc = static_cast<std::uint32_t>(threads_.wait_of(t).pc - program_.base);
    f.error = 702;  // cudaErrorLaunchTimeout
    stop(std::move(f));
    return;
  }
}

}  // namespace ridge::simt
