// cuSOLVER's calls of LAPACK, by the type of their numbers. Workspaces are LAPACK's own: those of the program are asked
// for, and not used.
#pragma once
#include <algorithm>
#include <vector>

#include "api/numbers.hpp"
#include "cusolver/lapack.hpp"
#include "cusolverDn.h"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace ridge::simt::solver {

template <class T>
struct Real {
  using Type = T;
};
template <class T>
struct Real<std::complex<T>> {
  using Type = T;
};
template <class T>
using RealOf = typename Real<T>::Type;

inline const char* uplo(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER ? "U" : "L"; }
inline const char* op_name(cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; }

inline cusolverStatus_t begin(cusolverDnHandle_t handle, bool good) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!good) return CUSOLVER_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUSOLVER_STATUS_EXECUTION_FAILED;
  Trace::unsupported("a call of cuSOLVER");
  return CUSOLVER_STATUS_SUCCESS;
}
#define RIDGE_SOLVE(handle, good)                                                                                    \
  if (const cusolverStatus_t status = ::ridge::simt::solver::begin(handle, good); status != CUSOLVER_STATUS_SUCCESS) \
  return status

inline cusolverStatus_t asked(cusolverDnHandle_t handle, int n, int* lwork) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (lwork == nullptr || n < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  *lwork = std::max(1, n);  // programs allocate it
  return CUSOLVER_STATUS_SUCCESS;
}

// What a call wrote is initialised.
template <class T>
void wrote(T* p, std::int64_t n) {
  if (p != nullptr && n > 0)
    Sanitizer::written(reinterpret_cast<std::uintptr_t>(p), static_cast<std::size_t>(n) * sizeof(T));
}
template <class T>
void wrote(T* p, int ld, int columns) {
  wrote(p, static_cast<std::int64_t>(ld) * columns);
}

// f(workspace, its size, ...): asked for the size first.
template <class T, class F>
void with_work(F f) {
  T best = T(0);
  f(&best, -1);
  std::vector<T> work(static_cast<std::size_t>(std::max(1.0, static_cast<double>(std::real(best)))) + 1);
  f(work.data(), static_cast<int>(work.size()));
}

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t h, cublasFillMode_t fill, int n, T* a, int lda, int* info) {
  RIDGE_SOLVE(h, n >= 0 && lda >= std::max(1, n) && info != nullptr);
  lapack::potrf(uplo(fill), n, a, lda, info);
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t potri(cusolverDnHandle_t h, cublasFillMode_t fill, int n, T* a, int lda, int* info) {
  RIDGE_SOLVE(h, n >= 0 && lda >= std::max(1, n) && info != nullptr);
  lapack::potri(uplo(fill), n, a, lda, info);
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t potrs(cusolverDnHandle_t h, cublasFillMode_t fill, int n, int r, const T* a, int lda, T* b, int ldb,
                       int* info) {
  RIDGE_SOLVE(h, n >= 0 && r >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n) && info != nullptr);
  lapack::potrs(uplo(fill), n, r, a, lda, b, ldb, info);
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
// Without pivots where the program wants none.
template <class T>
int lu_without_pivots(int m, int n, T* a, int lda) {
  int info = 0;
  const auto at = [&](int i, int j) -> T& { return a[static_cast<std::int64_t>(j) * lda + i]; };
  for (int k = 0; k < std::min(m, n); ++k) {
    if (at(k, k) == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < m; ++i) at(i, k) /= at(k, k);
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < m; ++i) at(i, j) -= at(i, k) * at(k, j);
  }
  return info;
}
template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, int* pivots, int* info) {
  RIDGE_SOLVE(h, m >= 0 && n >= 0 && lda >= std::max(1, m) && info != nullptr);
  if (pivots == nullptr)
    *info = lu_without_pivots(m, n, a, lda);
  else
    lapack::getrf(m, n, a, lda, pivots, info);
  wrote(info, 1), wrote(pivots, std::min(m, n));
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t getrs(cusolverDnHandle_t h, cublasOperation_t op, int n, int r, const T* a, int lda, const int* pivots,
                       T* b, int ldb, int* info) {
  RIDGE_SOLVE(h, n >= 0 && r >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n) && info != nullptr);
  std::vector<int> none;
  for (int i = 1; pivots == nullptr && i <= n; ++i) none.push_back(i);
  lapack::getrs(op_name(op), n, r, a, lda, pivots == nullptr ? none.data() : pivots, b, ldb, info);
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* tau, int* info) {
  RIDGE_SOLVE(h, m >= 0 && n >= 0 && lda >= std::max(1, m) && info != nullptr);
  with_work<T>([&](T* w, int l) { lapack::geqrf(m, n, a, lda, tau, w, l, info); });
  wrote(info, 1), wrote(tau, std::min(m, n));
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t mqr(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* a,
                     int lda, const T* tau, T* c, int ldc, int* info) {
  RIDGE_SOLVE(h, m >= 0 && n >= 0 && k >= 0 && ldc >= std::max(1, m) && info != nullptr);
  const char* name = op == CUBLAS_OP_N ? "N" : std::is_same_v<T, RealOf<T>> ? "T" : "C";
  with_work<T>([&](T* w, int l) {
    lapack::mqr(side == CUBLAS_SIDE_LEFT ? "L" : "R", name, m, n, k, a, lda, tau, c, ldc, w, l, info);
  });
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t gqr(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, const T* tau, int* info) {
  RIDGE_SOLVE(h, m >= n && n >= k && k >= 0 && lda >= std::max(1, m) && info != nullptr);
  with_work<T>([&](T* w, int l) { lapack::gqr(m, n, k, a, lda, tau, w, l, info); });
  wrote(info, 1);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t evd(cusolverDnHandle_t h, cusolverEigMode_t job, cublasFillMode_t fill, int n, T* a, int lda,
                     RealOf<T>* values, int* info) {
  RIDGE_SOLVE(h, n >= 0 && lda >= std::max(1, n) && info != nullptr);
  const char* vectors = job == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
  RealOf<T> reals = 0;
  int integers = 0;
  T best = T(0);
  lapack::evd(vectors, uplo(fill), n, a, lda, values, &best, -1, &reals, -1, &integers, -1, info);
  std::vector<T> work(static_cast<std::size_t>(std::real(best)) + 1);
  std::vector<RealOf<T>> real_work(static_cast<std::size_t>(reals) + 1);
  std::vector<int> integer_work(static_cast<std::size_t>(integers) + 1);
  lapack::evd(vectors, uplo(fill), n, a, lda, values, work.data(), static_cast<int>(work.size()), real_work.data(),
              static_cast<int>(real_work.size()), integer_work.data(), static_cast<int>(integer_work.size()), info);
  wrote(info, 1), wrote(values, n), wrote(a, lda, n);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t svd(cusolverDnHandle_t h, signed char job_u, signed char job_vt, int m, int n, T* a, int lda,
                     RealOf<T>* s, T* u, int ldu, T* vt, int ldvt, int* info) {
  RIDGE_SOLVE(h, n >= 0 && m >= n && lda >= std::max(1, m) && info != nullptr);  // as cuSOLVER: m >= n
  const char ju[] = {static_cast<char>(job_u), 0}, jv[] = {static_cast<char>(job_vt), 0};
  std::vector<RealOf<T>> real_work(static_cast<std::size_t>(5 * std::max(1, n)));
  with_work<T>([&](T* w, int l) {
    lapack::svd(ju, jv, m, n, a, lda, s, u, std::max(1, ldu), vt, std::max(1, ldvt), w, l, real_work.data(), info);
  });
  wrote(info, 1), wrote(s, n);
  if (job_u == 'A' || job_u == 'S') wrote(u, ldu, job_u == 'A' ? m : n);
  if (job_vt == 'A' || job_vt == 'S') wrote(vt, ldvt, n);
  return CUSOLVER_STATUS_SUCCESS;
}

using simt::as;

}  // namespace ridge::simt::solver
