// CUDA's functions beyond <cmath>, against identities and values in double precision.
#include <cmath>

#include "check.hpp"

__global__ void singles(const float* in, float* out) {
  int i = threadIdx.x;
  float x = in[i], s, c, sp, cp;
  sincosf(x, &s, &c);
  sincospif(x, &sp, &cp);
  float r[] = {rsqrtf(x),
               rcbrtf(x),
               s,
               c,
               sp,
               cp,
               erfinvf(x / 10),
               erfcinvf(x / 5),
               normcdff(x),
               normcdfinvf(x / 10),
               exp10f(x),
               norm3df(x, 2 * x, 2 * x),
               rnorm3df(x, 2 * x, 2 * x),
               hypotf(x, x),
               rhypotf(3 * x, 4 * x),
               erfcxf(x),
               sinpif(x),
               cospif(x)};
  for (int k = 0; k < 18; ++k) out[18 * i + k] = r[k];
}
__global__ void doubles(const double* in, double* out) {
  int i = threadIdx.x;
  double x = in[i], s, c;
  sincos(x, &s, &c);
  double r[] = {rsqrt(x),
                rcbrt(x),
                s,
                c,
                sinpi(x),
                cospi(x),
                erf(erfinv(x / 10)),
                erfc(erfcinv(x / 5)),
                normcdf(normcdfinv(x / 10)),
                exp10(x),
                norm3d(x, 2 * x, 2 * x),
                norm4d(x, x, x, x)};
  for (int k = 0; k < 12; ++k) out[12 * i + k] = r[k];
}

int main() {
  const int n = 24;
  const double pi = 3.14159265358979323846;
  float *in, *out;
  double *din, *dout;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, 18 * n * sizeof(float));
  cudaMallocManaged(&din, n * sizeof(double));
  cudaMallocManaged(&dout, 12 * n * sizeof(double));
  for (int i = 0; i < n; ++i) din[i] = in[i] = 0.25f * (i + 1);
  singles<<<1, n>>>(in, out);
  doubles<<<1, n>>>(din, dout);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
  for (int i = 0; i < n; ++i) {
    double x = din[i];
    double inverse = std::erf(double(out[18 * i + 6])), complement = std::erfc(double(out[18 * i + 7]));
    double quantile = 0.5 * std::erfc(-double(out[18 * i + 9]) / std::sqrt(2.0));
    double got[18], r[] = {1 / std::sqrt(x),
                           1 / std::cbrt(x),
                           std::sin(x),
                           std::cos(x),
                           std::sin(pi * x),
                           std::cos(pi * x),
                           x / 10,
                           x / 5,
                           0.5 * std::erfc(-x / std::sqrt(2.0)),
                           x / 10,
                           std::pow(10, x),
                           3 * x,
                           1 / (3 * x),
                           x * std::sqrt(2.0),
                           1 / (5 * x),
                           std::exp(x * x) * std::erfc(x),
                           std::sin(pi * x),
                           std::cos(pi * x)};
    for (int k = 0; k < 18; ++k) got[k] = out[18 * i + k];
    got[6] = inverse, got[7] = complement, got[9] = quantile;
    for (int k = 0; k < 18; ++k)
      expect(std::fabs(got[k] - r[k]) <= 3e-6 * std::fabs(r[k]) + 3e-7 * (k < 6 || k > 15), "a float function");
    double d[] = {1 / std::sqrt(x), 1 / std::cbrt(x), std::sin(x), std::cos(x),
                  std::sin(pi * x), std::cos(pi * x), x / 10,      x / 5,
                  x / 10,           std::pow(10, x),  3 * x,       2 * x};
    for (int k = 0; k < 12; ++k)
      expect(std::fabs(dout[12 * i + k] - d[k]) <= 1e-13 * std::fabs(d[k]) + 2e-14 * (k < 6), "a double function");
  }
  std::puts("ok");
}
