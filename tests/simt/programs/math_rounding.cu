// Arithmetic and conversions with a rounding mode.
#include <cmath>

#include "check.hpp"

__global__ void arithmetic(float a, float b, double x, double y, float* f, double* d) {
  float r[] = {__fadd_rn(a, b), __fadd_rz(a, b),    __fadd_ru(a, b),    __fadd_rd(a, b),    __fmul_rn(b, b),
               __fmul_rz(b, b), __fmul_ru(b, b),    __fmul_rd(b, b),    __fdiv_rn(a, 3),    __fdiv_rz(a, 3),
               __fdiv_ru(a, 3), __fdiv_rd(a, 3),    __fsqrt_rn(2),      __fsqrt_rz(2),      __fsqrt_ru(2),
               __fsqrt_rd(2),   __fmaf_rn(a, a, b), __fmaf_rz(a, a, b), __fmaf_ru(a, a, b), __fmaf_rd(a, a, b),
               __frcp_rn(3),    __frcp_rz(3),       __frcp_ru(3),       __frcp_rd(3)};
  for (int k = 0; k < 24; ++k) f[k] = r[k];
  double s[] = {__dadd_rn(x, y), __dadd_rz(x, y), __dadd_ru(x, y), __dadd_rd(x, y),
                __ddiv_rn(x, 3), __ddiv_rz(x, 3), __ddiv_ru(x, 3), __ddiv_rd(x, 3)};
  for (int k = 0; k < 8; ++k) d[k] = s[k];
}
__global__ void conversions(const float* v, int* out, float* floats) {
  int i = threadIdx.x;
  out[4 * i] = __float2int_rn(v[i]);
  out[4 * i + 1] = __float2int_rz(v[i]);
  out[4 * i + 2] = __float2int_ru(v[i]);
  out[4 * i + 3] = __float2int_rd(v[i]);
  floats[4 * i] = __int2float_rn(16777217 + 4 * i);
  floats[4 * i + 1] = __int2float_rz(16777219 + 4 * i);
  floats[4 * i + 2] = __int2float_ru(16777217 + 4 * i);
  floats[4 * i + 3] = __double2float_rd(16777219.0 + 4 * i);
}

int main() {
  float *f, *in, *floats;
  double* d;
  int* out;
  cudaMallocManaged(&f, 24 * sizeof *f);
  cudaMallocManaged(&d, 8 * sizeof *d);
  cudaMallocManaged(&in, 32);
  cudaMallocManaged(&out, 128);
  cudaMallocManaged(&floats, 128);
  const float a = 1, b = 0x1.000002p-25f;
  arithmetic<<<1, 1>>>(a, b, 1.0, 0x1p-60, f, d);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "arithmetic");
  expect(f[0] == 1 && f[1] == 1 && f[2] == 0x1.000002p0f && f[3] == 1, "additions");
  for (int op = 1; op < 6; ++op) {
    const float *r = f + 4 * op, low = r[3], high = r[2];
    double exact = op == 1   ? double(b) * b
                   : op == 2 ? 1.0 / 3
                   : op == 3 ? std::sqrt(2.0)
                   : op == 4 ? 1 + double(b)
                             : 1.0 / 3;
    expect(low <= exact && exact <= high && std::nextafter(low, high) == high, "down and up are neighbours");
    expect(r[1] == low, "towards zero");
    expect(r[0] == (high - exact < exact - low ? high : low), "to nearest");
  }
  expect(d[0] == 1 && d[1] == 1 && d[2] == 1 + 0x1p-52 && d[3] == 1, "double additions");
  expect(d[7] < d[6] && d[5] == d[7] && (d[4] == d[6] || d[4] == d[7]), "double divisions");
  const float values[] = {2.5f, -2.5f, 0.49999997f, 1e20f, -1e20f, NAN, -0.75f, 3.5f};
  const int wanted[][4] = {{2, 2, 3, 2},
                           {-2, -2, -2, -3},
                           {0, 0, 1, 0},
                           {INT_MAX, INT_MAX, INT_MAX, INT_MAX},
                           {INT_MIN, INT_MIN, INT_MIN, INT_MIN},
                           {0, 0, 0, 0},
                           {-1, 0, 0, -1},
                           {4, 3, 4, 3}};
  for (int i = 0; i < 8; ++i) in[i] = values[i];
  conversions<<<1, 8>>>(in, out, floats);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "conversions");
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 4; ++k) expect(out[4 * i + k] == wanted[i][k], "float to int");
    expect(floats[4 * i] == 16777216 + 4 * i && floats[4 * i + 1] == 16777218 + 4 * i, "int to float, rn and rz");
    expect(floats[4 * i + 2] == 16777218 + 4 * i && floats[4 * i + 3] == 16777218 + 4 * i, "to float, ru and rd");
  }
  std::puts("ok");
}
