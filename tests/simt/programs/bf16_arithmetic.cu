// bf16 arithmetic is rounded once from the exact result, fused operations too.
#include <cuda_bf16.h>

#include <cmath>

#include "check.hpp"

__global__ void compute(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[3 * i] = __hadd(a[i], b[i]);
  out[3 * i + 1] = __hmul(a[i], b[i]);
  out[3 * i + 2] = __hsub(a[i], b[i]);
}
__global__ void fused(const __nv_bfloat16* v, __nv_bfloat16* out) {
  out[0] = __hfma(v[0], v[0], v[1]);
  out[1] = __hfma(v[0], v[0], __hneg(v[1]));
  __nv_bfloat162 p = __halves2bfloat162(v[0], v[0]), q = __halves2bfloat162(v[1], __hneg(v[1]));
  __nv_bfloat162 r = __hfma2(p, p, q);
  out[2] = r.x;
  out[3] = r.y;
}

bool same(__nv_bfloat16 got, double wanted) {
  __nv_bfloat16 h = __double2bfloat16(wanted);
  if (std::isnan(wanted)) return __hisnan(got);
  return __bfloat16_as_ushort(h) == __bfloat16_as_ushort(got) || (float(got) == 0 && float(h) == 0);
}

int main() {
  const int n = 4096;
  __nv_bfloat16 *a, *b, *out;
  cudaMallocManaged(&a, n * sizeof *a);
  cudaMallocManaged(&b, n * sizeof *b);
  cudaMallocManaged(&out, 3 * n * sizeof *out);
  unsigned seed = 7;
  auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 16; };
  // Exponents near each other, so that sums are not one of the two.
  for (int i = 0; i < n; ++i) {
    a[i] = __ushort_as_bfloat16((unsigned short)(next() & 0x87ff | 0x3c00));
    b[i] = __ushort_as_bfloat16((unsigned short)(next() & 0x87ff | 0x3c00));
  }
  compute<<<n / 256, 256>>>(a, b, out, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "arithmetic");
  for (int i = 0; i < n; ++i) {
    double x = double(float(a[i])), y = double(float(b[i]));
    expect(same(out[3 * i], x + y), "sum");
    expect(same(out[3 * i + 1], x * y), "product");
    expect(same(out[3 * i + 2], x - y), "difference");
  }
  // 0x3f84 squared = 1.0634765625: not a tie. 1.0625^2 = 1.12890625 = 0x3f90 + a half place: c decides, however small.
  a[0] = __float2bfloat16(1.0625f);
  a[1] = __float2bfloat16(1e-30f);
  fused<<<1, 1>>>(a, out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "fused");
  expect(__bfloat16_as_ushort(out[0]) == 0x3f91 && __bfloat16_as_ushort(out[1]) == 0x3f90, "a tie broken by c");
  expect(__bfloat16_as_ushort(out[2]) == 0x3f91 && __bfloat16_as_ushort(out[3]) == 0x3f90, "the same in pairs");
  std::puts("ok");
}
