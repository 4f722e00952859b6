// cuSOLVER's functions of each type (include/cusolverDn.h).
#include "cusolver/solve.hpp"

namespace solver = ridge::simt::solver;
using solver::as;
using solver::asked;
using Handle = cusolverDnHandle_t;
using Fill = cublasFillMode_t;

#define RIDGE_SOLVER(X, T, R, q, e)                                                                                    \
  cusolverStatus_t cusolverDn##X##potrf_bufferSize(Handle h, Fill, int n, T*, int, int* lwork) {                       \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrf(Handle h, Fill f, int n, T* a, int lda, T*, int, int* info) {                  \
    return solver::potrf(h, f, n, as(a), lda, info);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrs(Handle h, Fill f, int n, int r, const T* a, int lda, T* b, int ldb,            \
                                        int* info) {                                                                   \
    return solver::potrs(h, f, n, r, as(a), lda, as(b), ldb, info);                                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potri_bufferSize(Handle h, Fill, int n, T*, int, int* lwork) {                       \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potri(Handle h, Fill f, int n, T* a, int lda, T*, int, int* info) {                  \
    return solver::potri(h, f, n, as(a), lda, info);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##getrf_bufferSize(Handle h, int, int n, T*, int, int* lwork) {                        \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##getrf(Handle h, int m, int n, T* a, int lda, T*, int* pivots, int* info) {           \
    return solver::getrf(h, m, n, as(a), lda, pivots, info);                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##getrs(Handle h, cublasOperation_t op, int n, int r, const T* a, int lda,             \
                                        const int* pivots, T* b, int ldb, int* info) {                                 \
    return solver::getrs(h, op, n, r, as(a), lda, pivots, as(b), ldb, info);                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##geqrf_bufferSize(Handle h, int, int n, T*, int, int* lwork) {                        \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##geqrf(Handle h, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {           \
    return solver::geqrf(h, m, n, as(a), lda, as(tau), info);                                                          \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##q##mqr_bufferSize(Handle h, cublasSideMode_t, cublasOperation_t, int m, int n, int,  \
                                                    const T*, int, const T*, const T*, int, int* lwork) {              \
    return asked(h, std::max(m, n), lwork);                                                                            \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##q##mqr(Handle h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,   \
                                         const T* a, int lda, const T* tau, T* c, int ldc, T*, int, int* info) {       \
    return solver::mqr(h, side, op, m, n, k, as(a), lda, as(tau), as(c), ldc, info);                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##q##gqr_bufferSize(Handle h, int, int n, int, const T*, int, const T*, int* lwork) {  \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##q##gqr(Handle h, int m, int n, int k, T* a, int lda, const T* tau, T*, int,          \
                                         int* info) {                                                                  \
    return solver::gqr(h, m, n, k, as(a), lda, as(tau), info);                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evd_bufferSize(Handle h, cusolverEigMode_t, Fill, int n, const T*, int, const R*, \
                                                    int* lwork) {                                                      \
    return asked(h, n, lwork);                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##e##evd(Handle h, cusolverEigMode_t job, Fill f, int n, T* a, int lda, R* w, T*, int, \
                                         int* info) {                                                                  \
    return solver::evd(h, job, f, n, as(a), lda, w, info);                                                             \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvd_bufferSize(Handle h, int, int n, int* lwork) { return asked(h, n, lwork); }    \
  cusolverStatus_t cusolverDn##X##gesvd(Handle h, signed char ju, signed char jv, int m, int n, T* a, int lda, R* s,   \
                                        T* u, int ldu, T* vt, int ldvt, T*, int, R*, int* info) {                      \
    return solver::svd(h, ju, jv, m, n, as(a), lda, s, as(u), ldu, as(vt), ldvt, info);                                \
  }

extern "C" {
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverGetVersion(int* version) {
  if (version == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}
RIDGE_SOLVER(S, float, float, or, sy)
RIDGE_SOLVER(D, double, double, or, sy)
RIDGE_SOLVER(C, cuComplex, float, un, he)
RIDGE_SOLVER(Z, cuDoubleComplex, double, un, he)
}
