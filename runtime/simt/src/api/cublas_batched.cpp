// cuBLAS's factorisations of many small matrices: LU with its solutions and inverses, QR, least squares.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "cublas_v2.h"
#include "stream/device_log.hpp"

namespace ridge::simt::batched {

template <class T>
T conjugate(T v) {
  return v;
}
template <class T>
std::complex<T> conjugate(std::complex<T> v) {
  return std::conj(v);
}
// |v| as LAPACK's pivoting takes it.
template <class T>
T size(T v) {
  return std::fabs(v);
}
template <class T>
T size(std::complex<T> v) {
  return std::fabs(v.real()) + std::fabs(v.imag());
}

template <class T>
struct Matrix {
  T* at;
  int ld;
  T& operator()(int i, int j) const { return at[static_cast<std::int64_t>(j) * ld + i]; }
};

// LU in place; pivots from 1, where they are wanted. Returns the first column without a pivot, from 1, or 0.
template <class T>
int lu(Matrix<T> a, int n, int* pivots) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; pivots != nullptr && i < n; ++i)
      if (size(a(i, k)) > size(a(p, k))) p = i;
    if (pivots != nullptr) pivots[k] = p + 1;
    if (a(p, k) == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int j = 0; p != k && j < n; ++j) std::swap(a(k, j), a(p, j));
    for (int i = k + 1; i < n; ++i) a(i, k) /= a(k, k);
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < n; ++i) a(i, j) -= a(i, k) * a(k, j);
  }
  return info;
}

// op(A) X = B in place of B, from A's LU.
template <class T>
void lu_solve(Matrix<const T> a, int n, cublasOperation_t op, const int* pivots, Matrix<T> b, int columns) {
  const auto e = [&](int i, int j) { return op == CUBLAS_OP_C ? conjugate(a(i, j)) : a(i, j); };
  for (int c = 0; c < columns; ++c) {
    if (op == CUBLAS_OP_N) {
      for (int k = 0; pivots != nullptr && k < n; ++k) std::swap(b(k, c), b(pivots[k] - 1, c));
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k) b(i, c) -= e(i, k) * b(k, c);
      for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) b(i, c) -= e(i, k) * b(k, c);
        b(i, c) /= e(i, i);
      }
      continue;
    }
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) b(i, c) -= e(k, i) * b(k, c);
      b(i, c) /= e(i, i);
    }
    for (int i = n - 1; i >= 0; --i)
      for (int k = i + 1; k < n; ++k) b(i, c) -= e(k, i) * b(k, c);
    for (int k = n - 1; pivots != nullptr && k >= 0; --k) std::swap(b(k, c), b(pivots[k] - 1, c));
  }
}

template <class T>
void inverse(Matrix<const T> a, int n, const int* pivots, Matrix<T> out) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) out(i, j) = T(i == j);
  lu_solve(a, n, CUBLAS_OP_N, pivots, out, n);
}

// QR by Householder's reflections, as LAPACK's geqr2: R above, the vectors below.
template <class T>
void qr(Matrix<T> a, int m, int n, T* tau) {
  for (int k = 0; k < std::min(m, n); ++k) {
    auto rest = std::norm(T(0));
    for (int i = k + 1; i < m; ++i) rest += std::norm(a(i, k));
    const auto real = std::real(a(k, k));
    const auto imaginary = std::imag(a(k, k));
    tau[k] = T(0);
    if (rest == 0 && imaginary == 0) continue;
    const auto norm = std::sqrt(std::norm(a(k, k)) + rest);
    const auto beta = real > 0 ? -norm : norm;
    tau[k] = (T(beta) - a(k, k)) / T(beta);
    const T scale = T(1) / (a(k, k) - T(beta));
    for (int i = k + 1; i < m; ++i) a(i, k) *= scale;
    a(k, k) = T(beta);
    for (int j = k + 1; j < n; ++j) {
      T sum = a(k, j);
      for (int i = k + 1; i < m; ++i) sum += conjugate(a(i, k)) * a(i, j);
      sum *= conjugate(tau[k]);
      a(k, j) -= sum;
      for (int i = k + 1; i < m; ++i) a(i, j) -= a(i, k) * sum;
    }
  }
}

// min |A X - C|: X in the first n rows of C. Returns the first zero of R's diagonal, from 1, or 0.
template <class T>
int least_squares(Matrix<T> a, int m, int n, Matrix<T> c, int columns) {
  std::vector<T> tau(static_cast<std::size_t>(n));
  qr(a, m, n, tau.data());
  for (int i = 0; i < n; ++i)
    if (a(i, i) == T(0)) return i + 1;
  for (int j = 0; j < columns; ++j) {
    for (int k = 0; k < n; ++k) {
      T sum = c(k, j);
      for (int i = k + 1; i < m; ++i) sum += conjugate(a(i, k)) * c(i, j);
      sum *= conjugate(tau[static_cast<std::size_t>(k)]);
      c(k, j) -= sum;
      for (int i = k + 1; i < m; ++i) c(i, j) -= a(i, k) * sum;
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) c(i, j) -= a(i, k) * c(k, j);
      c(i, j) /= a(i, i);
    }
  }
  return 0;
}

inline cublasStatus_t begin(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaStream_t stream = nullptr;
  cublasGetStream(handle, &stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  Trace::unsupported("a call of cuBLAS: write the kernel yourself");
  return CUBLAS_STATUS_SUCCESS;
}
#define RIDGE_BEGIN(handle, good)                                                                  \
  if (const cublasStatus_t status = begin(handle); status != CUBLAS_STATUS_SUCCESS) return status; \
  if (!(good)) return CUBLAS_STATUS_INVALID_VALUE

template <class T>
cublasStatus_t getrf(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info, int batch) {
  RIDGE_BEGIN(handle, n >= 0 && batch >= 0 && lda >= std::max(1, n));
  for (int k = 0; k < batch; ++k) info[k] = lu(Matrix<T>{a[k], lda}, n, pivots == nullptr ? nullptr : pivots + k * n);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t getri(cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots, T* const c[],
                     int ldc, int* info, int batch) {
  RIDGE_BEGIN(handle, n >= 0 && batch >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));
  for (int k = 0; k < batch; ++k) {
    const Matrix<const T> from{a[k], lda};
    info[k] = 0;
    for (int i = 0; i < n && info[k] == 0; ++i)
      if (from(i, i) == T(0)) info[k] = i + 1;
    if (info[k] == 0) inverse(from, n, pivots == nullptr ? nullptr : pivots + k * n, Matrix<T>{c[k], ldc});
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t getrs(cublasHandle_t handle, cublasOperation_t op, int n, int columns, const T* const a[], int lda,
                     const int* pivots, T* const b[], int ldb, int* info, int batch) {
  if (info != nullptr) *info = 0;
  RIDGE_BEGIN(handle, n >= 0 && columns >= 0 && batch >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
  for (int k = 0; k < batch; ++k)
    lu_solve(Matrix<const T>{a[k], lda}, n, op, pivots == nullptr ? nullptr : pivots + k * n, Matrix<T>{b[k], ldb},
             columns);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t matinv(cublasHandle_t handle, int n, const T* const a[], int lda, T* const out[], int ld, int* info,
                      int batch) {
  RIDGE_BEGIN(handle, n >= 0 && n <= 32 && batch >= 0 && lda >= std::max(1, n) && ld >= std::max(1, n));
  for (int k = 0; k < batch; ++k) {
    std::vector<T> copy(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    std::vector<int> pivots(static_cast<std::size_t>(n));
    const Matrix<T> factors{copy.data(), std::max(1, n)};
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) factors(i, j) = a[k][static_cast<std::int64_t>(j) * lda + i];
    info[k] = lu(factors, n, pivots.data());
    if (info[k] == 0) inverse(Matrix<const T>{copy.data(), std::max(1, n)}, n, pivots.data(), Matrix<T>{out[k], ld});
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t geqrf(cublasHandle_t handle, int m, int n, T* const a[], int lda, T* const tau[], int* info, int batch) {
  if (info != nullptr) *info = 0;
  RIDGE_BEGIN(handle, m >= 0 && n >= 0 && batch >= 0 && lda >= std::max(1, m));
  for (int k = 0; k < batch; ++k) qr(Matrix<T>{a[k], lda}, m, n, tau[k]);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t gels(cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, T* const a[], int lda,
                    T* const c[], int ldc, int* info, int* each, int batch) {
  if (info != nullptr) *info = 0;
  if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BEGIN(handle, n >= 0 && columns >= 0 && batch >= 0 && lda >= std::max(1, m) && ldc >= std::max(1, m));
  for (int k = 0; k < batch; ++k) {
    const int zero = least_squares(Matrix<T>{a[k], lda}, m, n, Matrix<T>{c[k], ldc}, columns);
    if (each != nullptr) each[k] = zero;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// cuComplex and std::complex are the same two numbers.
template <class To, class From>
To* const* as(From* const p[]) {
  return reinterpret_cast<To* const*>(p);
}

}  // namespace ridge::simt::batched

using ridge::simt::batched::as;

#define RIDGE_BATCHED(X, T, S)                                                                                        \
  cublasStatus_t cublas##X##getrfBatched(cublasHandle_t h, int n, T* const a[], int lda, int* p, int* info,           \
                                         int batch) {                                                                 \
    return ridge::simt::batched::getrf(h, n, as<S>(a), lda, p, info, batch);                                          \
  }                                                                                                                   \
  cublasStatus_t cublas##X##getriBatched(cublasHandle_t h, int n, const T* const a[], int lda, const int* p,          \
                                         T* const c[], int ldc, int* info, int batch) {                               \
    return ridge::simt::batched::getri<S>(h, n, as<const S>(a), lda, p, as<S>(c), ldc, info, batch);                  \
  }                                                                                                                   \
  cublasStatus_t cublas##X##getrsBatched(cublasHandle_t h, cublasOperation_t op, int n, int nrhs, const T* const a[], \
                                         int lda, const int* p, T* const b[], int ldb, int* info, int batch) {        \
    return ridge::simt::batched::getrs<S>(h, op, n, nrhs, as<const S>(a), lda, p, as<S>(b), ldb, info, batch);        \
  }                                                                                                                   \
  cublasStatus_t cublas##X##matinvBatched(cublasHandle_t h, int n, const T* const a[], int lda, T* const out[],       \
                                          int ld, int* info, int batch) {                                             \
    return ridge::simt::batched::matinv<S>(h, n, as<const S>(a), lda, as<S>(out), ld, info, batch);                   \
  }                                                                                                                   \
  cublasStatus_t cublas##X##geqrfBatched(cublasHandle_t h, int m, int n, T* const a[], int lda, T* const tau[],       \
                                         int* info, int batch) {                                                      \
    return ridge::simt::batched::geqrf(h, m, n, as<S>(a), lda, as<S>(tau), info, batch);                              \
  }                                                                                                                   \
  cublasStatus_t cublas##X##gelsBatched(cublasHandle_t h, cublasOperation_t op, int m, int n, int nrhs, T* const a[], \
                                        int lda, T* const c[], int ldc, int* info, int* each, int batch) {            \
    return ridge::simt::batched::gels(h, op, m, n, nrhs, as<S>(a), lda, as<S>(c), ldc, info, each, batch);            \
  }

extern "C" {
RIDGE_BATCHED(S, float, float)
RIDGE_BATCHED(D, double, double)
RIDGE_BATCHED(C, cuComplex, std::complex<float>)
RIDGE_BATCHED(Z, cuDoubleComplex, std::complex<double>)
}
