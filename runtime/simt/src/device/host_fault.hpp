// A sentence for a segmentation fault of host code.
#pragma once
#include <cstdint>

namespace ridge::simt {

// A kernel's address: host code that calls it is told so.
void note_kernel(std::uintptr_t function);

// To be called by a signal handler, with the address that faulted and the registers of the instruction and the stack.
void say_host_fault(std::uintptr_t address, std::uintptr_t pc, std::uintptr_t stack);

}  // namespace ridge::simt
