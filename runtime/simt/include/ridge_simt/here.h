// The address of the code that this is inlined into: where a report points for operations that are calls of the library.
#pragma once
#include <cstdint>

namespace ridge_simt {
inline __attribute__((always_inline)) std::uintptr_t here() {
#if defined(__x86_64__)
  std::uintptr_t pc;
  asm volatile("leaq 0(%%rip), %0" : "=r"(pc));
  return pc;
#elif defined(__aarch64__)
  std::uintptr_t pc;
  asm volatile("adr %0, ." : "=r"(pc));
  return pc;
#else
  return 0;
#endif
}
}  // namespace ridge_simt
