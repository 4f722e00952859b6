// The functions of other objects that a kernel may call: the emulator's, and those of libraries that do not access
// memory. All others are host functions, whose accesses no hook would see.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// `symbol` as in assembly, mangled.
bool kernels_may_call(std::string_view symbol);

// The replacement, in instrumented code, of a call of a function that writes through a pointer that no hook sees:
// memcpy, sincos, printf (%n) and their kin. Empty where the call stays.
std::string watched_call(std::string_view symbol);

// The same for malloc, free, new and delete, which give a kernel memory of the device's heap.
std::string heap_call(std::string_view symbol);

}  // namespace ridge::simt
