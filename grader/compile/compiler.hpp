// The C++ compiler that builds for the emulator, and the flags that make its code the same on every machine.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct Compiler {
  fs::path program;
  std::string name;  // "clang++ 14.0.6"
  bool clang = false;
  std::vector<std::string> neutral;  // see neutral_flags()
  std::string identity;              // differs between compilers whose objects may differ: for caches
};

// Clang, which counts as nvcc's code does in most cases, else GCC. RIDGE_CXX names another. Throws where there is none.
const Compiler& host_compiler();

// The flags of the counting build, pinned so that counts agree between machines, `neutral` included. Recorded in
// results.
std::vector<std::string> counting_flags(const Compiler& compiler);

// int i; if (lane == 0) i = atomicAdd(n, 1); i = __shfl_sync(mask, i, 0): nvcc lets the other lanes pass a variable
// that nothing has set. Clang from 14 on takes it that nobody does, and all lanes add.
std::vector<std::string> unset_argument_flags(const Compiler& compiler);

// Switch off what distributions switch on by default and what changes code: branch protection, stack protectors,
// fortified library calls, a newer processor, and so on. Of these, the ones that the compiler takes.
std::vector<std::string> neutral_flags(const fs::path& program);

}  // namespace ridge
