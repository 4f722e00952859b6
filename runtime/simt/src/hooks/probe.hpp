// Finds the __global__ function that a launch would run. The launch site holds a lambda, so the call is started on a
// small stack and abandoned at its first basic block, before it has done anything.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device/program.hpp"

namespace ridge::simt {

struct Probe {
  static bool active;                           // set while the host's thread probes
  static void reached(std::uint64_t function);  // does not return to a probe's caller
};

// Entry address of the kernel that run(closure) would call; 0 where unknown (--plain).
std::uintptr_t kernel_of(void (*run)(void*), void* closure);
// Resources of the kernel at this address.
KernelResources resources_of(std::uintptr_t kernel);

}  // namespace ridge::simt
