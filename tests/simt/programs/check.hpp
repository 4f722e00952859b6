// What the programs here check themselves with.
#pragma once
#include <cstdio>
#include <cstdlib>

inline void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not true: %s\n", what);
  std::exit(1);
}

inline void expect_error(cudaError_t got, cudaError_t wanted, const char* what) {
  if (got == wanted) return;
  std::printf("%s: %s instead of %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
  std::exit(1);
}
