// Which functions of other objects a kernel may call: those of the emulator, and such of the libraries as leave memory
// alone. All others are host functions, whose accesses no hook would see.
#pragma once
#include <string_view>

namespace ridge::simt {

// `symbol` as in assembly, mangled.
bool kernels_may_call(std::string_view symbol);

// Functions of the libraries that write to memory, in place of which the emulator has its own, counted ones: what to put
// before the name. Empty for all others.
std::string_view counted_prefix(std::string_view symbol);

}  // namespace ridge::simt
