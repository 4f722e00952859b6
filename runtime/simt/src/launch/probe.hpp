// Which __global__ function a launch would run: the launch site holds a lambda, so the call is started on a small stack
// and abandoned at its first basic block, before it has done anything.
#pragma once
#include <cstdint>

namespace ridge::simt {

struct Probe {
  static bool active;                           // while the host's thread probes
  static void reached(std::uint64_t function);  // does not return to a probe's caller
};

}  // namespace ridge::simt
