// Faults of kernels: an act that a GPU would not allow, and its place.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/lab/cause.hpp"

namespace ridge::simt {

constexpr std::size_t kMostCallers = 12;
// The call stack of a call: offsets in the program, innermost first, then 0.
using Callers = std::array<std::uint32_t, kMostCallers>;
Callers callers_here();
// The launch of the kernel that runs now; all 0 where nobody noted it.
void set_launch(const Callers& callers);
Callers launch_callers();

struct Fault {
  Cause cause = Cause::none;
  std::string kind;    // "out-of-bounds global store", "misaligned address", "deadlock at a barrier", ...
  std::string detail;  // one sentence that compares the address with the allocations
  std::string kernel;
  unsigned block[3] = {};
  unsigned thread[3] = {};
  std::uint32_t pc = 0;  // offset in the program's text; 0 where file and line are known
  std::string file;      // known for barriers, else empty
  int line = 0;
  int error = 0;  // cudaError_t it leaves behind
};

// Stores the fault of the current launch (the first one stays) and prints it to stderr where no judge listens.
void report_fault(const Fault& fault);
// The fault since the last clear, or nullptr.
const Fault* last_fault();
void clear_fault();

// "file:line" of a program offset by addr2line, outermost inlined frame; empty where there is no debug information.
std::string source_of(std::uint32_t pc);
// Base address of the running program, to which a pc offset is relative.
std::uintptr_t program_base();

}  // namespace ridge::simt
