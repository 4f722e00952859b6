// cuSOLVER against what multiplying out gives. nvcc: -lcusolver
#include <cusolverDn.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

static int failures = 0;
static void check(bool ok, const char* what) {
  if (!ok) std::printf("wrong: %s\n", what), ++failures;
}
#define DO(call) check((call) == CUSOLVER_STATUS_SUCCESS, #call)

static std::vector<void*> allocated;  // freed at the end

template <class T>
static T* managed(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMallocManaged(&p, v.size() * sizeof(T));
  allocated.push_back(p);
  for (std::size_t i = 0; i < v.size(); ++i) p[i] = v[i];
  return p;
}
template <class T>
static bool close(const T* a, const std::vector<T>& b) {
  bool ok = true;
  for (std::size_t i = 0; i < b.size(); ++i) ok = ok && std::abs(a[i] - b[i]) < 1e-4;
  return ok;
}

__global__ void fill(double* a) {  // {4 2; 2 5}
  a[0] = 4, a[1] = a[2] = 2, a[3] = 5;
}

static void factors(cusolverDnHandle_t h) {
  double *a = managed(std::vector<double>(4)), *b = managed<double>({10, 13, 8, 9});
  int *info = managed<int>({7}), *pivots = managed<int>({0, 0, 0}), size = 0;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  DO(cusolverDnSetStream(h, stream));
  fill<<<1, 1, 0, stream>>>(a);  // the solver waits for it
  DO(cusolverDnDpotrf_bufferSize(h, CUBLAS_FILL_MODE_LOWER, 2, a, 2, &size));
  double* work = managed(std::vector<double>(static_cast<std::size_t>(size)));
  DO(cusolverDnDpotrf(h, CUBLAS_FILL_MODE_LOWER, 2, a, 2, work, size, info));
  check(*info == 0 && close(a, {2, 1, 2, 2}), "Cholesky: the upper triangle stays");
  DO(cusolverDnDpotrs(h, CUBLAS_FILL_MODE_LOWER, 2, 1, a, 2, b, 2, info));
  check(close(b, {1.5, 2}), "its solution");
  DO(cusolverDnSetStream(h, nullptr));
  cudaStreamDestroy(stream);
  double* bad = managed<double>({1, 2, 2, 1});
  DO(cusolverDnDpotrf(h, CUBLAS_FILL_MODE_UPPER, 2, bad, 2, work, size, info));
  check(*info == 2, "a leading minor that is not positive");

  float *lu = managed<float>({2, 4, 1, 3}), *x = managed<float>({4, 10});
  DO(cusolverDnSgetrf_bufferSize(h, 2, 2, lu, 2, &size));
  DO(cusolverDnSgetrf(h, 2, 2, lu, 2, nullptr, pivots, info));
  check(*info == 0 && pivots[0] == 2 && close(lu, {4, 0.5f, 3, -0.5f}), "LU");
  DO(cusolverDnSgetrs(h, CUBLAS_OP_N, 2, 1, lu, 2, pivots, x, 2, info));
  check(close(x, {1, 2}), "its solution");
  float* plain = managed<float>({2, 4, 1, 3});
  DO(cusolverDnSgetrf(h, 2, 2, plain, 2, nullptr, nullptr, info));
  check(close(plain, {2, 2, 1, 1}), "LU without pivots");
  check(cusolverDnSgetrf(h, 3, 2, plain, 2, nullptr, nullptr, info) == CUSOLVER_STATUS_INVALID_VALUE, "lda");
}

static void qr(cusolverDnHandle_t h) {
  const std::vector<float> given = {1, 0, 1, 1, 0, 1, 1, -1};  // 4 x 2
  float *a = managed(given), *tau = managed<float>({0, 0}), *b = managed<float>({2, -1, -1, 3});
  int *info = managed<int>({7}), size = 0;
  DO(cusolverDnSgeqrf_bufferSize(h, 4, 2, a, 4, &size));
  float* work = managed(std::vector<float>(static_cast<std::size_t>(size)));
  DO(cusolverDnSgeqrf(h, 4, 2, a, 4, tau, work, size, info));
  const std::vector<float> r = {a[0], a[4], a[5]};
  DO(cusolverDnSormqr_bufferSize(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 4, 1, 2, a, 4, tau, b, 4, &size));
  DO(cusolverDnSormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 4, 1, 2, a, 4, tau, b, 4, work, size, info));
  const float y = b[1] / r[2], x = (b[0] - r[1] * y) / r[0];  // R (x, y) = Q^T b
  check(std::fabs(x - 4 / 3.0f) < 1e-4f && std::fabs(y + 5 / 3.0f) < 1e-4f, "least squares by QR");
  DO(cusolverDnSorgqr_bufferSize(h, 4, 2, 2, a, 4, tau, &size));
  DO(cusolverDnSorgqr(h, 4, 2, 2, a, 4, tau, work, size, info));
  std::vector<float> back(8);
  for (int i = 0; i < 4; ++i) back[i] = a[i] * r[0], back[4 + i] = a[i] * r[1] + a[4 + i] * r[2];
  check(close(back.data(), given), "Q R");
}

static void values(cusolverDnHandle_t h) {
  double *a = managed<double>({2, 1, 1, 2}), *w = managed<double>({0, 0});
  int *info = managed<int>({7}), size = 0;
  DO(cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, a, 2, w, &size));
  DO(cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, a, 2, w, nullptr, size, info));
  check(close(w, {1, 3}) && std::fabs(a[0] + a[1]) < 1e-12 && std::fabs(a[2] - a[3]) < 1e-12,
        "eigenvalues and vectors");

  using C = std::complex<float>;
  const std::vector<C> given = {C(1, 1), 0, C(0, 2), 2, C(0, 1), 1};  // 3 x 2
  C *m = managed(given), *u = managed(std::vector<C>(6)), *vt = managed(std::vector<C>(4));
  float* s = managed<float>({0, 0});
  const auto as = [](C* p) { return reinterpret_cast<cuComplex*>(p); };
  DO(cusolverDnCgesvd_bufferSize(h, 3, 2, &size));
  DO(cusolverDnCgesvd(h, 'S', 'S', 3, 2, as(m), 3, s, as(u), 3, as(vt), 2, nullptr, size, nullptr, info));
  std::vector<C> back(6);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) back[3 * j + i] += u[3 * k + i] * s[k] * vt[2 * j + k];
  check(*info == 0 && s[0] >= s[1] && close(back.data(), given), "singular values");
  check(cusolverDnCgesvd(h, 'S', 'S', 2, 3, as(m), 3, s, as(u), 3, as(vt), 2, nullptr, size, nullptr, info) ==
            CUSOLVER_STATUS_INVALID_VALUE,
        "m < n");
}

int main() {
  cusolverDnHandle_t h = nullptr;
  DO(cusolverDnCreate(&h));
  factors(h);
  qr(h);
  values(h);
  DO(cusolverDnDestroy(h));
  for (void* p : allocated) cudaFree(p);
  if (failures == 0) std::printf("ok\n");
  return failures;
}
