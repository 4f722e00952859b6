// Functions of fp16, within two places of the exact result; integers to fp16 and back.
#include <cuda_fp16.h>

#include <cmath>

#include "check.hpp"

__global__ void functions(const half* in, half* out) {
  int i = threadIdx.x;
  half x = in[i];
  half r[] = {hsqrt(x),  hrsqrt(x), hrcp(x), hexp(x),   hexp2(x), hlog(x),   hlog2(x),
              hlog10(x), hsin(x),   hcos(x), hfloor(x), hceil(x), htrunc(x), hrint(x)};
  for (int k = 0; k < 14; ++k) out[14 * i + k] = r[k];
}
__global__ void integers(const half* in, int* out, half* back) {
  int i = threadIdx.x;
  out[4 * i] = __half2int_rn(in[i]);
  out[4 * i + 1] = __half2int_rz(in[i]);
  out[4 * i + 2] = __half2int_ru(in[i]);
  out[4 * i + 3] = __half2int_rd(in[i]);
  back[2 * i] = __int2half_rn(2049 + 4 * i);
  back[2 * i + 1] = __int2half_ru(2049 + 4 * i);
}

int main() {
  const int n = 32;
  half *in, *out, *back;
  int* ints;
  cudaMallocManaged(&in, n * sizeof(half));
  cudaMallocManaged(&out, 14 * n * sizeof(half));
  cudaMallocManaged(&back, 2 * n * sizeof(half));
  cudaMallocManaged(&ints, 4 * n * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = half(0.25f * (i + 1));
  functions<<<1, n>>>(in, out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "functions");
  for (int i = 0; i < n; ++i) {
    double x = 0.25 * (i + 1);
    double r[] = {std::sqrt(x),  1 / std::sqrt(x), 1 / x,         std::exp(x),      std::exp2(x),
                  std::log(x),   std::log2(x),     std::log10(x), std::sin(x),      std::cos(x),
                  std::floor(x), std::ceil(x),     std::trunc(x), std::nearbyint(x)};
    for (int k = 0; k < 14; ++k)
      expect(std::fabs(double(float(out[14 * i + k])) - r[k]) <= std::fabs(r[k]) / 512 + 1e-3 * (k >= 5 && k < 10),
             "function of fp16");
  }
  for (int i = 0; i < n; ++i) in[i] = half(0.5f * i - 8.25f);
  integers<<<1, n>>>(in, ints, back);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "integers");
  for (int i = 0; i < n; ++i) {
    double x = 0.5 * i - 8.25;
    expect(ints[4 * i] == int(std::nearbyint(x)) && ints[4 * i + 1] == int(x), "fp16 to int, rn and rz");
    expect(ints[4 * i + 2] == int(std::ceil(x)) && ints[4 * i + 3] == int(std::floor(x)), "fp16 to int, ru and rd");
    expect(float(back[2 * i]) == 2048 + 4 * i && float(back[2 * i + 1]) == 2050 + 4 * i, "int to fp16");
  }
  expect(__half2short_rz(half(1e5f)) == 32767 && __half2uint_rz(half(-3.0f)) == 0, "integers saturate");
  std::puts("ok");
}
