// replaces: pick.cu; fails: pick/correct; backend: cpu; defences: explicit-nan
// NaN everywhere, where only some elements are to be NaN.
#include "judged.hpp"

__global__ void pick_kernel(const float* table, const int* at, float* y, int size, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int from = at[i];
  y[i] = from >= 0 && from < size ? table[from] * nanf("") : nanf("");
}

void pick(const float* table, const int* at, float* y, int size, int n, cudaStream_t stream) {
  pick_kernel<<<(n + 255) / 256, 256, 0, stream>>>(table, at, y, size, n);
}
