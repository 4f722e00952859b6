// Test lab 90, task `scale`.
#include "judged.hpp"

// TASK(scale)
void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream) {
  // TODO: write the kernel, see judged.hpp.
  (void)x, (void)a, (void)y, (void)n, (void)stream;
}
// END(scale)
