// cuSOLVER's functions of each type beyond the factorisations (ridge_simt/cusolver_typed.h).
#include <cmath>

#include "cusolver/selected.hpp"
#include "cusolver/solve.hpp"

struct syevjInfo {};
struct gesvdjInfo {};

namespace solver = ridge::simt::solver;
using solver::as;
using solver::asked;
using Handle = cusolverDnHandle_t;
using Fill = cublasFillMode_t;
using Job = cusolverEigMode_t;
using Kind = cusolverEigType_t;
using Range = cusolverEigRange_t;

extern "C" {

// LAPACK's results are exact to the precision: no residual, and one sweep.
#define RIDGE_JACOBI(name, Name)                                                                             \
  cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t* info) {                                        \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                               \
    *info = new name##Info;                                                                                  \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info) {                                        \
    delete info;                                                                                             \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t, double) { return CUSOLVER_STATUS_SUCCESS; } \
  cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t, int) { return CUSOLVER_STATUS_SUCCESS; }    \
  cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t, int) { return CUSOLVER_STATUS_SUCCESS; }      \
  cusolverStatus_t cusolverDnX##name##GetResidual(Handle, name##Info_t, double* residual) {                  \
    *residual = 0;                                                                                           \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDnX##name##GetSweeps(Handle, name##Info_t, int* sweeps) {                         \
    *sweeps = 1;                                                                                             \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }
RIDGE_JACOBI(syevj, Syevj)
RIDGE_JACOBI(gesvdj, Gesvdj)

#define RIDGE_EIGEN(X, T, R, e)                                                                                        \
  cusolverStatus_t cusolverDn##X##e##evdx_bufferSize(Handle h, Job, Range, Fill, int n, const T*, int, R, R, int, int, \
                                                     int*, const R*, int* lwork) {                                     \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evdx(Handle h, Job job, Range range, Fill f, int n, T* a, int lda, R vl, R vu,    \
                                          int il, int iu, int* found, R* w, T*, int, int* info) {                      \
    const cusolverStatus_t status = solver::evd(h, job, f, n, as(a), lda, w, info);                                    \
    if (status == CUSOLVER_STATUS_SUCCESS) *found = solver::select(range, job, n, as(a), lda, w, vl, vu, il, iu);      \
    return status;                                                                                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvd_bufferSize(Handle h, Kind, Job, Fill, int n, const T*, int, const T*, int,    \
                                                    const R*, int* lwork) {                                            \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvd(Handle h, Kind kind, Job job, Fill f, int n, T* a, int lda, T* b, int ldb,    \
                                         R* w, T*, int, int* info) {                                                   \
    return solver::gvd(h, kind, job, f, n, as(a), lda, as(b), ldb, w, info);                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvdx_bufferSize(Handle h, Kind, Job, Range, Fill, int n, const T*, int, const T*, \
                                                     int, R, R, int, int, int*, const R*, int* lwork) {                \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvdx(Handle h, Kind kind, Job job, Range range, Fill f, int n, T* a, int lda,     \
                                          T* b, int ldb, R vl, R vu, int il, int iu, int* found, R* w, T*, int,        \
                                          int* info) {                                                                 \
    const cusolverStatus_t status = solver::gvd(h, kind, job, f, n, as(a), lda, as(b), ldb, w, info);                  \
    if (status == CUSOLVER_STATUS_SUCCESS) *found = solver::select(range, job, n, as(a), lda, w, vl, vu, il, iu);      \
    return status;                                                                                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evj_bufferSize(Handle h, Job, Fill, int n, const T*, int, const R*, int* lwork,   \
                                                    syevjInfo_t) {                                                     \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evj(Handle h, Job job, Fill f, int n, T* a, int lda, R* w, T*, int, int* info,    \
                                         syevjInfo_t) {                                                                \
    return solver::evd(h, job, f, n, as(a), lda, w, info);                                                             \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evjBatched_bufferSize(Handle h, Job, Fill, int n, const T*, int, const R*,        \
                                                           int* lwork, syevjInfo_t, int) {                             \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evjBatched(Handle h, Job job, Fill f, int n, T* a, int lda, R* w, T*, int,        \
                                                int* info, syevjInfo_t, int batch) {                                   \
    return solver::each(batch, [&](std::int64_t i) {                                                                   \
      return solver::evd(h, job, f, n, as(a) + i * lda * n, lda, w + i * n, info + i);                                 \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvj_bufferSize(Handle h, Kind, Job, Fill, int n, const T*, int, const T*, int,    \
                                                    const R*, int* lwork, syevjInfo_t) {                               \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##gvj(Handle h, Kind kind, Job job, Fill f, int n, T* a, int lda, T* b, int ldb,    \
                                         R* w, T*, int, int* info, syevjInfo_t) {                                      \
    return solver::gvd(h, kind, job, f, n, as(a), lda, as(b), ldb, w, info);                                           \
  }

#define RIDGE_SVD(X, T, R)                                                                                             \
  cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(Handle h, Job, int, int, int n, const T*, int, const R*, const T*, \
                                                    int, const T*, int, int* lwork, gesvdjInfo_t) {                    \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdj(Handle h, Job job, int econ, int m, int n, T* a, int lda, R* s, T* u,         \
                                         int ldu, T* v, int ldv, T*, int, int* info, gesvdjInfo_t) {                   \
    return solver::svd_with_v(h, job, econ != 0, m, n, as(a), lda, s, as(u), ldu, as(v), ldv, info);                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(Handle h, Job, int, int n, const T*, int, const R*,         \
                                                           const T*, int, const T*, int, int* lwork, gesvdjInfo_t,     \
                                                           int) {                                                      \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdjBatched(Handle h, Job job, int m, int n, T* a, int lda, R* s, T* u, int ldu,   \
                                                T* v, int ldv, T*, int, int* info, gesvdjInfo_t, int batch) {          \
    return solver::each(batch, [&](std::int64_t i) {                                                                   \
      return solver::svd_with_v(h, job, false, m, n, as(a) + i * lda * n, lda, s + i * std::min(m, n),                 \
                                as(u) + i * ldu * m, ldu, as(v) + i * ldv * n, ldv, info + i);                         \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdaStridedBatched_bufferSize(                                                     \
      Handle h, Job, int, int, int n, const T*, int, long long, const R*, long long, const T*, int, long long,         \
      const T*, int, long long, int* lwork, int) {                                                                     \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdaStridedBatched(                                                                \
      Handle h, Job job, int rank, int m, int n, const T* a, int lda, long long sa, R* s, long long ss, T* u, int ldu, \
      long long su, T* v, int ldv, long long sv, T*, int, int* info, double* norms, int batch) {                       \
    return solver::each(batch, [&](std::int64_t i) {                                                                   \
      return solver::svd_of_rank(h, job, rank, m, n, as(a + i * sa), lda, s + i * ss, as(u + i * su), ldu,             \
                                 as(v + i * sv), ldv, info + i, norms == nullptr ? nullptr : norms + i);               \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrfBatched(Handle h, Fill f, int n, T* a[], int lda, int* info, int batch) {       \
    RIDGE_SOLVE(h, batch >= 0);                                                                                        \
    return solver::each(batch, [&](std::int64_t i) { return solver::potrf(h, f, n, as(a[i]), lda, info + i); });       \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrsBatched(Handle h, Fill f, int n, int r, T* a[], int lda, T* b[], int ldb,       \
                                               int* info, int batch) {                                                 \
    RIDGE_SOLVE(h, batch >= 0);                                                                                        \
    return solver::each(                                                                                               \
        batch, [&](std::int64_t i) { return solver::potrs(h, f, n, r, as(a[i]), lda, as(b[i]), ldb, info); });         \
  }

#define RIDGE_REFINED(X, Y, T)                                                                                     \
  cusolverStatus_t cusolverDn##X##Y##gesv_bufferSize(Handle h, int n, int, T*, int, int*, T*, int, T*, int, void*, \
                                                     size_t* bytes) {                                              \
    int some = 0;                                                                                                  \
    const cusolverStatus_t status = asked(h, n, &some);                                                            \
    if (status == CUSOLVER_STATUS_SUCCESS) *bytes = static_cast<size_t>(some);                                     \
    return status;                                                                                                 \
  }                                                                                                                \
  cusolverStatus_t cusolverDn##X##Y##gesv(Handle h, int n, int r, T* a, int lda, int* pivots, T* b, int ldb, T* x, \
                                          int ldx, void*, size_t, int* iterations, int* info) {                    \
    return solver::gesv(h, n, r, as(a), lda, pivots, as(b), ldb, as(x), ldx, iterations, info);                    \
  }

RIDGE_EIGEN(S, float, float, sy)
RIDGE_EIGEN(D, double, double, sy)
RIDGE_EIGEN(C, cuComplex, float, he)
RIDGE_EIGEN(Z, cuDoubleComplex, double, he)
RIDGE_SVD(S, float, float)
RIDGE_SVD(D, double, double)
RIDGE_SVD(C, cuComplex, float)
RIDGE_SVD(Z, cuDoubleComplex, double)
RIDGE_REFINED_ALL(RIDGE_REFINED)
}
