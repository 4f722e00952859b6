// Test lab 90, task `sum`.
#include "judged.hpp"

// TASK(sum)
void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  // TODO: write the kernel, see judged.hpp.
  (void)x, (void)y, (void)rows, (void)cols, (void)stream;
}
// END(sum)
