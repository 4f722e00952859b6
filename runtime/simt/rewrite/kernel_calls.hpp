// Which functions of other objects a kernel may call: those of the emulator, and such of the libraries as leave memory
// alone. All others are host functions, whose accesses no hook would see.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// `symbol` as in assembly, mangled.
bool kernels_may_call(std::string_view symbol);

// What a call becomes in instrumented code where the function writes through a pointer that no hook sees: memcpy,
// sincos, printf (%n) and their kin. Empty: the call stays.
std::string watched_call(std::string_view symbol);

}  // namespace ridge::simt
