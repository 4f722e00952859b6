// Mathematical functions with results behind pointers, into global and local memory; printf that writes nothing.
#include <cmath>

#include "check.hpp"

// x, s, c, fraction, whole, rest: n floats; exponent, quotient: n ints
__global__ void split(const float* x, float* s, float* c, float* fraction, float* whole, int* exponent, float* rest,
                      int* quotient, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  sincosf(x[i], s + i, c + i);
  modff(x[i], whole + i);
  fraction[i] = frexpf(x[i], exponent + i);
  rest[i] = remquof(x[i], 3.0f, quotient + i);
}
__global__ void local(double* out, double x) {
  double s, c, whole;
  int exponent;
  sincos(x, &s, &c);
  out[0] = s * s + c * c;
  const double fraction = modf(x, &whole);  // apart: a compiler may read `whole` before the call
  out[1] = fraction + whole;
  const double significand = frexp(x, &exponent);
  out[2] = ldexp(significand, exponent);
  if (x < 0) printf("%d%%n %s", 1, "never");
}

int main() {
  const int n = 1000;
  float *x, *f;
  int* whole_numbers;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&f, 5 * n * sizeof(float));
  cudaMallocManaged(&whole_numbers, 2 * n * sizeof(int));
  for (int i = 0; i < n; ++i) x[i] = 0.37f * static_cast<float>(i) - 91;
  split<<<8, 128>>>(x, f, f + n, f + 2 * n, f + 3 * n, whole_numbers, f + 4 * n, whole_numbers + n, n);
  double* out;
  cudaMallocManaged(&out, 3 * sizeof(double));
  local<<<1, 1>>>(out, 12.75);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
  for (int i = 0; i < n; ++i) {
    expect(std::fabs(f[i] - std::sin(static_cast<double>(x[i]))) < 1e-5, "sincosf, sine");
    expect(std::fabs(f[n + i] - std::cos(static_cast<double>(x[i]))) < 1e-5, "sincosf, cosine");
    expect(std::ldexp(f[2 * n + i], whole_numbers[i]) == x[i], "frexpf");
    expect(f[3 * n + i] == std::trunc(x[i]), "modff");
    expect(std::fabs(f[4 * n + i]) <= 1.5f, "remquof");
  }
  expect(std::fabs(out[0] - 1) < 1e-14 && out[1] == 12.75 && out[2] == 12.75, "into local memory");
  cudaFree(x);
  cudaFree(f);
  cudaFree(whole_numbers);
  cudaFree(out);
  std::puts("ok");
}
