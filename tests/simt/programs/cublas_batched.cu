// cuBLAS's batched factorisations: LU, solutions, inverses, QR, least squares.
// link: -lcublas
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

static int failures = 0;
static void check(bool ok, const char* what) {
  if (!ok) std::printf("wrong: %s\n", what), ++failures;
}
#define DO(call) check((call) == CUBLAS_STATUS_SUCCESS, #call)

template <class T>
static T* managed(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMallocManaged(&p, v.size() * sizeof(T));
  for (std::size_t i = 0; i < v.size(); ++i) p[i] = v[i];
  return p;
}
template <class T, class U>
static bool close(const T* a, const std::vector<U>& b) {
  bool ok = true;
  for (std::size_t i = 0; i < b.size(); ++i) ok = ok && std::abs(a[i] - b[i]) < 1e-4;
  return ok;
}

// By columns: {2 1; 4 3}^T needs a pivot, {1 2; 2 4} has none.
static void lu(cublasHandle_t handle) {
  float *a = managed<float>({2, 4, 1, 3, 1, 2, 2, 4}), *b = managed<float>({4, 10, 4, 10});
  float** each = managed<float*>({a, a + 4});
  float** right = managed<float*>({b, b + 2});
  int *pivots = managed<int>({0, 0, 0, 0}), *info = managed<int>({7, 7}), bad = 7;
  DO(cublasSgetrfBatched(handle, 2, each, 2, pivots, info, 2));
  check(close(a, std::vector<float>{4, 0.5f, 3, -0.5f, 2, 0.5f, 4, 0}), "LU");
  check(pivots[0] == 2 && pivots[1] == 2 && info[0] == 0 && info[1] == 2, "pivots");
  DO(cublasSgetrsBatched(handle, CUBLAS_OP_N, 2, 1, each, 2, pivots, right, 2, &bad, 1));
  check(bad == 0 && close(b, std::vector<float>{1, 2}), "solution");
  DO(cublasSgetrsBatched(handle, CUBLAS_OP_T, 2, 1, each, 2, pivots, right + 1, 2, &bad, 1));
  check(close(b + 2, std::vector<float>{-14, 8}), "solution, transposed");
  float* c = managed<float>({0, 0, 0, 0});
  float** inverse = managed<float*>({c});
  DO(cublasSgetriBatched(handle, 2, each, 2, pivots, inverse, 2, info, 1));
  check(close(c, std::vector<float>{1.5f, -2, -0.5f, 1}), "inverse from LU");
  float* m = managed<float>({2, 4, 1, 3});
  float** of = managed<float*>({m});
  DO(cublasSmatinvBatched(handle, 2, of, 2, inverse, 2, info, 1));
  check(close(c, std::vector<float>{1.5f, -2, -0.5f, 1}) && m[0] == 2, "inverse");
  check(cublasSgetrfBatched(handle, 3, each, 2, pivots, info, 2) == CUBLAS_STATUS_INVALID_VALUE, "lda");
  // Without pivots.
  float* plain = managed<float>({2, 4, 1, 3});
  of[0] = plain;
  DO(cublasSgetrfBatched(handle, 2, of, 2, nullptr, info, 1));
  check(close(plain, std::vector<float>{2, 2, 1, 1}), "LU without pivots");
}

template <class T, class S, class F, class G>
static void least_squares(cublasHandle_t handle, F qr, G gels) {
  // A 4 x 2 system with the solution (1, -2), and a part of the right-hand side that no column has.
  std::vector<S> columns = {1, 0, 1, 1, 0, 1, 1, -1}, right = {1, -2, -1, 3};
  const S extra[4] = {1, 1, -1, 0};
  if constexpr (!std::is_arithmetic_v<S>)  // rows times a unit of the plane change no solution
    for (int i = 0; i < 2; ++i) columns[4 * i + 1] *= S(0, 1), right[1] *= i == 0 ? S(0, 1) : S(1);
  if constexpr (std::is_arithmetic_v<S>)
    for (int i = 0; i < 4; ++i) right[i] += extra[i];
  S *a = managed(columns), *c = managed(right), *q = managed(columns), *tau = managed(std::vector<S>(2));
  T** each = managed<T*>({reinterpret_cast<T*>(a)});
  T** to = managed<T*>({reinterpret_cast<T*>(c)});
  T** factors = managed<T*>({reinterpret_cast<T*>(q)});
  T** taus = managed<T*>({reinterpret_cast<T*>(tau)});
  int info = 7, *zero = managed<int>({7});
  DO(gels(handle, CUBLAS_OP_N, 4, 2, 1, each, 4, to, 4, &info, zero, 1));
  check(info == 0 && zero[0] == 0 && close(c, std::vector<S>{1, -2}), "least squares");
  DO(qr(handle, 4, 2, factors, 4, taus, &info, 1));
  check(
      info == 0 && std::abs(std::abs(q[0]) - std::sqrt(3.0)) < 1e-4 && std::abs(std::abs(q[5]) - std::sqrt(3.0)) < 1e-4,
      "R");
  check(gels(handle, CUBLAS_OP_N, 2, 4, 1, each, 4, to, 4, &info, zero, 1) == CUBLAS_STATUS_NOT_SUPPORTED, "m < n");
}

int main() {
  cublasHandle_t handle;
  DO(cublasCreate(&handle));
  lu(handle);
  least_squares<float, float>(handle, cublasSgeqrfBatched, cublasSgelsBatched);
  least_squares<double, double>(handle, cublasDgeqrfBatched, cublasDgelsBatched);
  least_squares<cuComplex, std::complex<float>>(handle, cublasCgeqrfBatched, cublasCgelsBatched);
  least_squares<cuDoubleComplex, std::complex<double>>(handle, cublasZgeqrfBatched, cublasZgelsBatched);
  DO(cublasDestroy(handle));
  if (failures == 0) std::printf("ok\n");
  return failures;
}
