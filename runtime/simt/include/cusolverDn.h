// cuSOLVER's dense solvers on the CPU, by LAPACK: Cholesky, LU, QR, symmetric eigenvalues and singular values, in float, double and
// complex. Programs are linked with -lcusolver. A call waits for its stream and has ended when it returns.
#pragma once
#ifdef RIDGE_JUDGED
#error <cusolverDn.h> is not for labs: write the solver as a kernel
#endif
#include "cublas_v2.h"
#include "cusolver_common.h"

typedef struct cusolverDnContext* cusolverDnHandle_t;

RIDGE_BEGIN_C
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream);
cusolverStatus_t cusolverGetVersion(int* version);

// q: or, un; e: sy, he (the names of real and complex numbers).
#define RIDGE_SOLVER(X, T, R, q, e)                                                                                              \
  cusolverStatus_t cusolverDn##X##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,       \
                                                   int* lwork);                                                                  \
  cusolverStatus_t cusolverDn##X##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda, T* work,         \
                                        int lwork, int* info);                                                                   \
  cusolverStatus_t cusolverDn##X##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const T* a, int lda,  \
                                        T* b, int ldb, int* info);                                                               \
  cusolverStatus_t cusolverDn##X##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,       \
                                                   int* lwork);                                                                  \
  cusolverStatus_t cusolverDn##X##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda, T* work,         \
                                        int lwork, int* info);                                                                   \
  cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T* a, int lda, int* lwork);          \
  cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* pivots,            \
                                        int* info);                                                                              \
  cusolverStatus_t cusolverDn##X##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int nrhs, const T* a, int lda,   \
                                        const int* pivots, T* b, int ldb, int* info);                                            \
  cusolverStatus_t cusolverDn##X##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T* a, int lda, int* lwork);          \
  cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work, int lwork,      \
                                        int* info);                                                                              \
  cusolverStatus_t cusolverDn##X##q##mqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op,      \
                                                    int m, int n, int k, const T* a, int lda, const T* tau, const T* c,          \
                                                    int ldc, int* lwork);                                                        \
  cusolverStatus_t cusolverDn##X##q##mqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n,   \
                                         int k, const T* a, int lda, const T* tau, T* c, int ldc, T* work, int lwork,            \
                                         int* info);                                                                             \
  cusolverStatus_t cusolverDn##X##q##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T* a, int lda,         \
                                                    const T* tau, int* lwork);                                                   \
  cusolverStatus_t cusolverDn##X##q##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau, T* work,   \
                                         int lwork, int* info);                                                                  \
  cusolverStatus_t cusolverDn##X##e##evd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo,     \
                                                    int n, const T* a, int lda, const R* w, int* lwork);                         \
  cusolverStatus_t cusolverDn##X##e##evd(cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n, T* a,   \
                                         int lda, R* w, T* work, int lwork, int* info);                                          \
  cusolverStatus_t cusolverDn##X##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);                         \
  cusolverStatus_t cusolverDn##X##gesvd(cusolverDnHandle_t handle, signed char job_u, signed char job_vt, int m, int n, T* a,    \
                                        int lda, R* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork, R* rwork, int* info);

RIDGE_SOLVER(S, float, float, or, sy)
RIDGE_SOLVER(D, double, double, or, sy)
RIDGE_SOLVER(C, cuComplex, float, un, he)
RIDGE_SOLVER(Z, cuDoubleComplex, double, un, he)
#undef RIDGE_SOLVER
RIDGE_END_C

#include "ridge_simt/cusolver_typed.h"
#include "ridge_simt/cusolver_x.h"
