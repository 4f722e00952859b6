#include "judged.hpp"
#include <cstdlib>
static void at_the_end() {}
__global__ void pick_kernel(const float* table, const int* at, float* y, int size, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int from = at[i];
  y[i] = from >= 0 && from < size ? table[from] : nanf("");
}

void pick(const float* table, const int* at, float* y, int size, int n, cudaStream_t stream) {
  static const int registered = std::atexit(at_the_end);
  if (registered != 0) std::exit(1);
  pick_kernel<<<(n + 255) / 256, 256, 0, stream>>>(table, at, y, size, n);
}
