// Where the __shared__ arrays of modules lie: at the end of the program's thread-local segment, behind the dynamic
// shared memory. A module's segment has the same end, so that its places in a thread are the program's
// (grader/compile/dynamic_shared.hpp).
#pragma once
#include <cstddef>

namespace ridge::simt {

constexpr std::size_t kModuleSharedBytes = 64 * 1024;

}  // namespace ridge::simt
