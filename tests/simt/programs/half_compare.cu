// Comparisons, minima and maxima of fp16, with NaN and signed zeros.
#include <cuda_fp16.h>

#include "check.hpp"

__global__ void compare(const half* v, unsigned* out, unsigned short* extremes, int n) {
  int i = threadIdx.x, j = blockIdx.x;
  half a = v[i], b = v[j];
  out[j * n + i] = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 |
                   __hge(a, b) << 5 | __hequ(a, b) << 6 | __hneu(a, b) << 7 | __hltu(a, b) << 8 | __hgeu(a, b) << 9;
  extremes[2 * (j * n + i)] = __half_as_ushort(__hmin(a, b));
  extremes[2 * (j * n + i) + 1] = __half_as_ushort(__hmax_nan(a, b));
}

int main() {
  const int n = 6;
  const unsigned short bits[n] = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7c00, 0x7e00};  // 0 -0 1 -2 inf NaN
  half* v;
  unsigned* out;
  unsigned short* extremes;
  cudaMallocManaged(&v, n * sizeof(half));
  cudaMallocManaged(&out, n * n * sizeof(unsigned));
  cudaMallocManaged(&extremes, 2 * n * n * sizeof(unsigned short));
  for (int i = 0; i < n; ++i) v[i] = __ushort_as_half(bits[i]);
  compare<<<n, n>>>(v, out, extremes, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      float a = float(v[i]), b = float(v[j]);
      unsigned un = a != a || b != b;
      unsigned wanted = (a == b) | (a < b || a > b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5 |
                        (un || a == b) << 6 | (a != b) << 7 | (un || a < b) << 8 | (un || a >= b) << 9;
      expect(out[j * n + i] == wanted, "comparison");
      unsigned short least = extremes[2 * (j * n + i)], most = extremes[2 * (j * n + i) + 1];
      if (un) {
        expect(most == 0x7fff, "hmax_nan");
        expect(least == (a != a && b != b ? 0x7fff : a != a ? bits[j] : bits[i]), "hmin prefers numbers");
      } else if (a != b) {
        expect(least == (a < b ? bits[i] : bits[j]) && most == (a < b ? bits[j] : bits[i]), "smaller and larger");
      } else {
        expect(least == (bits[i] | bits[j]) && most == (bits[i] & bits[j]), "-0 is below 0");
      }
    }
  std::puts("ok");
}
