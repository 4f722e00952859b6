// Fast intrinsics (loose tolerances: a GPU's are approximate), minima and maxima of mixed types, bit patterns, constants.
#include <math_constants.h>

#include <cmath>

#include "check.hpp"

__global__ void fast(float* out, float x) {
  float s, c;
  __sincosf(x, &s, &c);
  float r[] = {__expf(x), __logf(x), __log2f(x), __log10f(x), __powf(x, 1.5f),  __sinf(x),      __cosf(x),
               __tanf(x), s,         c,          __exp10f(x), __fdividef(x, 3), __saturatef(x), __saturatef(-x)};
  for (int k = 0; k < 14; ++k) out[k] = r[k];
}
__global__ void types(int* ok) {
  int i = -1;
  unsigned u = 1;
  *ok = max(i, u) == 0xffffffffu && min(i, 1) == -1 && max(1.0f, 2.5) == 2.5 && min(3ll, 2ll) == 2 &&
        fminf(CUDART_NAN_F, 2.0f) == 2.0f && max(CUDART_NAN_F, 2.0f) == 2.0f && isnan(CUDART_NAN) &&
        isinf(CUDART_INF_F) && signbit(-0.0f) && abs(-3) == 3 && fabsf(-2.0f) == 2.0f &&
        __float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f &&
        __float_as_uint(-0.0f) == 0x80000000u && __double_as_longlong(1.0) == 0x3ff0000000000000ll &&
        __hiloint2double(0x40000000, 0) == 2.0 && __double2hiint(2.0) == 0x40000000 && __double2loint(2.0) == 0 &&
        fma(2.0, 3.0, 4.0) == 10.0 && fmaf(2.0f, 3.0f, 1.0f) == 7.0f;
}

int main() {
  float* out;
  int* ok;
  cudaMallocManaged(&out, 14 * sizeof *out);
  cudaMallocManaged(&ok, sizeof *ok);
  const double x = 1.25;
  fast<<<1, 1>>>(out, float(x));
  types<<<1, 1>>>(ok);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
  const double r[] = {std::exp(x),
                      std::log(x),
                      std::log2(x),
                      std::log10(x),
                      std::pow(x, 1.5),
                      std::sin(x),
                      std::cos(x),
                      std::tan(x),
                      std::sin(x),
                      std::cos(x),
                      std::pow(10, x),
                      x / 3,
                      1,
                      0};
  for (int k = 0; k < 14; ++k) expect(std::fabs(out[k] - r[k]) <= 2e-5 * std::fabs(r[k]), "a fast intrinsic");
  expect(*ok, "overloads, bits and constants");
  expect(std::fabs(CUDART_PI_F - 3.14159265) < 1e-6, "pi");
  std::puts("ok");
}
