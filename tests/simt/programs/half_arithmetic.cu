// fp16 sums, products, quotients and fused operations are the double-precision results, rounded once.
#include <cuda_fp16.h>

#include <cmath>

#include "check.hpp"

__global__ void compute(const half* a, const half* b, const half* c, half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[5 * i] = __hadd(a[i], b[i]);
  out[5 * i + 1] = __hsub(a[i], b[i]);
  out[5 * i + 2] = __hmul(a[i], b[i]);
  out[5 * i + 3] = __hfma(a[i], b[i], c[i]);
  out[5 * i + 4] = __hfma_relu(a[i], b[i], c[i]);
}
__global__ void divide(const half* a, const half* b, half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i];
}

bool same(half got, double wanted) {
  half h = __double2half(wanted);
  return std::isnan(wanted) ? __hisnan(got)
                            : __half_as_ushort(h) == __half_as_ushort(got) || (float(got) == 0 && float(h) == 0);
}

int main() {
  const int n = 4096;
  half *a, *b, *c, *out, *q;
  cudaMallocManaged(&a, n * sizeof(half));
  cudaMallocManaged(&b, n * sizeof(half));
  cudaMallocManaged(&c, n * sizeof(half));
  cudaMallocManaged(&out, 5 * n * sizeof(half));
  cudaMallocManaged(&q, n * sizeof(half));
  unsigned seed = 1;
  auto next = [&] { return __ushort_as_half((unsigned short)((seed = seed * 1664525u + 1013904223u) >> 16)); };
  for (int i = 0; i < n; ++i) a[i] = next(), b[i] = next(), c[i] = next();
  compute<<<n / 256, 256>>>(a, b, c, out, n);
  divide<<<n / 256, 256>>>(a, b, q, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
  for (int i = 0; i < n; ++i) {
    double x = double(float(a[i])), y = double(float(b[i])), z = double(float(c[i]));
    expect(same(out[5 * i], x + y), "sum");
    expect(same(out[5 * i + 1], x - y), "difference");
    expect(same(out[5 * i + 2], x * y), "product");
    expect(same(out[5 * i + 3], std::fma(x, y, z)), "fused multiply-add");
    double f = std::fma(x, y, z);
    expect(same(out[5 * i + 4], f < 0 ? 0.0 : f), "fused multiply-add with relu");
    // A GPU divides by way of an approximate reciprocal: within one place.
    double exact = x / y;
    if (std::isfinite(exact) && std::fabs(exact) < 65504 && std::fabs(exact) > 1e-4)
      expect(std::fabs(double(float(q[i])) - exact) <= std::fabs(exact) / 1024, "quotient");
  }
  half h = 2.0f;
  h += half(1.5f);
  h *= h;
  ++h;
  expect(float(h) == 13.25f && float(-h) == -13.25f && h > half(13.0f) && h != half(13.0f), "operators");
  std::puts("ok");
}
