// Eigenvalues that are chosen or generalised, singular values with V, and solutions in another array.
#pragma once
#include <cmath>
#include <cstring>

#include "cusolver/solve.hpp"

namespace ridge::simt::solver {

template <class Call>
cusolverStatus_t each(std::int64_t batch, Call call) {
  return each_of(batch, CUSOLVER_STATUS_SUCCESS, call);
}

// Moves the chosen ones of n ascending values, and their vectors, to the front: numbers il to iu from 1, or those in
// (vl, vu]. Returns how many.
template <class T>
int select(cusolverEigRange_t range, cusolverEigMode_t job, int n, T* a, int lda, RealOf<T>* w, RealOf<T> vl,
           RealOf<T> vu, std::int64_t il, std::int64_t iu) {
  if (range == CUSOLVER_EIG_RANGE_ALL) return n;
  int found = 0;
  for (int i = 0; i < n; ++i) {
    const bool chosen = range == CUSOLVER_EIG_RANGE_I ? i + 1 >= il && i + 1 <= iu : w[i] > vl && w[i] <= vu;
    if (!chosen) continue;
    w[found] = w[i];
    if (job == CUSOLVER_EIG_MODE_VECTOR && found != i)
      std::copy_n(a + static_cast<std::int64_t>(i) * lda, n, a + static_cast<std::int64_t>(found) * lda);
    ++found;
  }
  return found;
}

template <class T>
cusolverStatus_t gvd(cusolverDnHandle_t h, cusolverEigType_t type, cusolverEigMode_t job, cublasFillMode_t fill, int n,
                     T* a, int lda, T* b, int ldb, RealOf<T>* values, int* info) {
  RIDGE_SOLVE(h, n >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n) && info != nullptr);
  const char* vectors = job == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
  RealOf<T> reals = 0;
  int integers = 0;
  T best = T(0);
  lapack::gvd(type, vectors, uplo(fill), n, a, lda, b, ldb, values, &best, -1, &reals, -1, &integers, -1, info);
  std::vector<T> work(static_cast<std::size_t>(std::real(best)) + 1);
  std::vector<RealOf<T>> real_work(static_cast<std::size_t>(reals) + 1);
  std::vector<int> integer_work(static_cast<std::size_t>(integers) + 1);
  lapack::gvd(type, vectors, uplo(fill), n, a, lda, b, ldb, values, work.data(), static_cast<int>(work.size()),
              real_work.data(), static_cast<int>(real_work.size()), integer_work.data(),
              static_cast<int>(integer_work.size()), info);
  wrote(info, 1), wrote(values, n), wrote(a, lda, n);
  return CUSOLVER_STATUS_SUCCESS;
}

// a = u diag(s) v^H. u: m x m, v: n x n; with econ min(m, n) columns each. a is destroyed.
template <class T>
cusolverStatus_t svd_with_v(cusolverDnHandle_t h, cusolverEigMode_t job, bool econ, int m, int n, T* a, int lda,
                            RealOf<T>* s, T* u, int ldu, T* v, int ldv, int* info) {
  RIDGE_SOLVE(h, n >= 0 && m >= 0 && lda >= std::max(1, m) && info != nullptr);
  const bool vectors = job == CUSOLVER_EIG_MODE_VECTOR;
  const int least = std::min(m, n), rows = econ ? least : n;
  const char* each = !vectors ? "N" : econ ? "S" : "A";
  std::vector<T> vt(vectors ? static_cast<std::size_t>(rows) * static_cast<std::size_t>(n) : 1);
  std::vector<RealOf<T>> real_work(static_cast<std::size_t>(5 * std::max(1, least)));
  with_work<T>([&](T* w, int l) {
    lapack::svd(each, each, m, n, a, lda, s, u, std::max(1, ldu), vt.data(), std::max(1, rows), w, l, real_work.data(),
                info);
  });
  for (int j = 0; vectors && j < rows; ++j)
    for (int i = 0; i < n; ++i) {
      const T value = vt[static_cast<std::size_t>(i) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(j)];
      if constexpr (std::is_same_v<T, RealOf<T>>)
        v[static_cast<std::int64_t>(j) * ldv + i] = value;
      else
        v[static_cast<std::int64_t>(j) * ldv + i] = std::conj(value);
    }
  wrote(info, 1), wrote(s, least);
  if (vectors) wrote(u, ldu, econ ? least : m), wrote(v, ldv, rows);
  return CUSOLVER_STATUS_SUCCESS;
}

// The `rank` largest singular values and their vectors; `norm`: of what they leave of a. a stays as it is.
template <class T>
cusolverStatus_t svd_of_rank(cusolverDnHandle_t h, cusolverEigMode_t job, int rank, int m, int n, const T* a, int lda,
                             RealOf<T>* s, T* u, int ldu, T* v, int ldv, int* info, double* norm) {
  RIDGE_SOLVE(h, n >= 0 && m >= 0 && rank >= 0 && rank <= std::min(m, n) && lda >= std::max(1, m) && info != nullptr);
  const int least = std::min(m, n), ld = std::max(1, m);
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(std::max(1, rows)) * static_cast<std::size_t>(std::max(1, columns));
  };
  std::vector<T> copy(size(m, n)), all_u(size(m, least)), all_v(size(n, least));
  std::vector<RealOf<T>> all_s(size(least, 1));
  for (int j = 0; j < n; ++j)
    std::copy_n(a + static_cast<std::int64_t>(j) * lda, m, copy.data() + static_cast<std::int64_t>(j) * ld);
  const cusolverStatus_t status = svd_with_v(h, job, true, m, n, copy.data(), ld, all_s.data(), all_u.data(), ld,
                                             all_v.data(), std::max(1, n), info);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  double rest = 0;
  for (int i = 0; i < least; ++i) {
    if (i >= rank) {
      rest += static_cast<double>(all_s[static_cast<std::size_t>(i)]) * all_s[static_cast<std::size_t>(i)];
      continue;
    }
    s[i] = all_s[static_cast<std::size_t>(i)];
    if (job != CUSOLVER_EIG_MODE_VECTOR) continue;
    std::copy_n(all_u.data() + static_cast<std::int64_t>(i) * ld, m, u + static_cast<std::int64_t>(i) * ldu);
    std::copy_n(all_v.data() + static_cast<std::int64_t>(i) * std::max(1, n), n,
                v + static_cast<std::int64_t>(i) * ldv);
  }
  if (norm != nullptr) *norm = std::sqrt(rest);
  wrote(s, rank);
  if (job == CUSOLVER_EIG_MODE_VECTOR) wrote(u, ldu, rank), wrote(v, ldv, rank);
  return CUSOLVER_STATUS_SUCCESS;
}

// x = a^-1 b, where x may not be b. In full precision at once: `iterations`, on the host, says so with 0.
template <class T>
cusolverStatus_t gesv(cusolverDnHandle_t h, int n, int r, T* a, int lda, int* pivots, const T* b, int ldb, T* x,
                      int ldx, int* iterations, int* info) {
  RIDGE_SOLVE(h, n >= 0 && r >= 0 && ldb >= std::max(1, n) && ldx >= std::max(1, n) && iterations && info);
  *iterations = 0;
  std::vector<int> own(static_cast<std::size_t>(std::max(1, n)));
  if (pivots == nullptr) pivots = own.data();
  if (const cusolverStatus_t status = getrf(h, n, n, a, lda, pivots, info); status != CUSOLVER_STATUS_SUCCESS)
    return status;
  if (*info != 0) return CUSOLVER_STATUS_SUCCESS;
  for (int j = 0; j < r; ++j)
    std::copy_n(b + static_cast<std::int64_t>(j) * ldb, n, x + static_cast<std::int64_t>(j) * ldx);
  wrote(x, ldx, r);
  return getrs(h, CUBLAS_OP_N, n, r, a, lda, pivots, x, ldx, info);
}

}  // namespace ridge::simt::solver
