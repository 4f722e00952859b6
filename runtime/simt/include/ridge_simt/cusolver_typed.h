// cuSOLVER's functions of each type beyond the factorisations: eigenvalues that are chosen, generalised or by Jacobi's
// method, singular values with V, batches, and solutions that cuSOLVER refines. All are LAPACK's in full precision:
// tolerances, sweeps and lower precisions change nothing.
#pragma once

typedef struct syevjInfo* syevjInfo_t;
typedef struct gesvdjInfo* gesvdjInfo_t;

RIDGE_BEGIN_C
#define RIDGE_JACOBI(name, Name)                                                                                            \
  cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t* info);                                                        \
  cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info);                                                        \
  cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info, double tolerance);                                    \
  cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info, int sweeps);                                          \
  cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info, int sort);                                              \
  cusolverStatus_t cusolverDnX##name##GetResidual(cusolverDnHandle_t handle, name##Info_t info, double* residual);          \
  cusolverStatus_t cusolverDnX##name##GetSweeps(cusolverDnHandle_t handle, name##Info_t info, int* sweeps);
RIDGE_JACOBI(syevj, Syevj)
RIDGE_JACOBI(gesvdj, Gesvdj)
#undef RIDGE_JACOBI

// e: sy, he (the names of real and complex numbers).
#define RIDGE_TYPED(X, T, R, e)                                                                                             \
  cusolverStatus_t cusolverDn##X##e##evdx_bufferSize(                                                                       \
      cusolverDnHandle_t handle, cusolverEigMode_t job, cusolverEigRange_t range, cublasFillMode_t uplo, int n,             \
      const T* a, int lda, R vl, R vu, int il, int iu, int* found, const R* w, int* lwork);                                 \
  cusolverStatus_t cusolverDn##X##e##evdx(cusolverDnHandle_t handle, cusolverEigMode_t job, cusolverEigRange_t range,       \
                                          cublasFillMode_t uplo, int n, T* a, int lda, R vl, R vu, int il, int iu,          \
                                          int* found, R* w, T* work, int lwork, int* info);                                 \
  cusolverStatus_t cusolverDn##X##e##gvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t type,                      \
                                                    cusolverEigMode_t job, cublasFillMode_t uplo, int n, const T* a,        \
                                                    int lda, const T* b, int ldb, const R* w, int* lwork);                  \
  cusolverStatus_t cusolverDn##X##e##gvd(cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t job,          \
                                         cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb, R* w, T* work,         \
                                         int lwork, int* info);                                                             \
  cusolverStatus_t cusolverDn##X##e##gvdx_bufferSize(                                                                       \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t job, cusolverEigRange_t range,                   \
      cublasFillMode_t uplo, int n, const T* a, int lda, const T* b, int ldb, R vl, R vu, int il, int iu, int* found,       \
      const R* w, int* lwork);                                                                                              \
  cusolverStatus_t cusolverDn##X##e##gvdx(cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t job,         \
                                          cusolverEigRange_t range, cublasFillMode_t uplo, int n, T* a, int lda, T* b,      \
                                          int ldb, R vl, R vu, int il, int iu, int* found, R* w, T* work, int lwork,        \
                                          int* info);                                                                       \
  cusolverStatus_t cusolverDn##X##e##evj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t job,                       \
                                                    cublasFillMode_t uplo, int n, const T* a, int lda, const R* w,          \
                                                    int* lwork, syevjInfo_t params);                                        \
  cusolverStatus_t cusolverDn##X##e##evj(cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n,    \
                                         T* a, int lda, R* w, T* work, int lwork, int* info, syevjInfo_t params);           \
  cusolverStatus_t cusolverDn##X##e##evjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t job,                \
                                                           cublasFillMode_t uplo, int n, const T* a, int lda,               \
                                                           const R* w, int* lwork, syevjInfo_t params, int batch);          \
  cusolverStatus_t cusolverDn##X##e##evjBatched(cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo,    \
                                                int n, T* a, int lda, R* w, T* work, int lwork, int* info,                  \
                                                syevjInfo_t params, int batch);                                             \
  cusolverStatus_t cusolverDn##X##e##gvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t type,                      \
                                                    cusolverEigMode_t job, cublasFillMode_t uplo, int n, const T* a,        \
                                                    int lda, const T* b, int ldb, const R* w, int* lwork,                   \
                                                    syevjInfo_t params);                                                    \
  cusolverStatus_t cusolverDn##X##e##gvj(cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t job,          \
                                         cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb, R* w, T* work,         \
                                         int lwork, int* info, syevjInfo_t params);                                         \
  cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t job, int econ, int m,      \
                                                    int n, const T* a, int lda, const R* s, const T* u, int ldu,            \
                                                    const T* v, int ldv, int* lwork, gesvdjInfo_t params);                  \
  cusolverStatus_t cusolverDn##X##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t job, int econ, int m, int n, T* a,    \
                                         int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int lwork, int* info,        \
                                         gesvdjInfo_t params);                                                              \
  cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(                                                                 \
      cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, const T* a, int lda, const R* s, const T* u,          \
      int ldu, const T* v, int ldv, int* lwork, gesvdjInfo_t params, int batch);                                            \
  cusolverStatus_t cusolverDn##X##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, T* a,       \
                                                int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int lwork,            \
                                                int* info, gesvdjInfo_t params, int batch);                                 \
  cusolverStatus_t cusolverDn##X##gesvdaStridedBatched_bufferSize(                                                          \
      cusolverDnHandle_t handle, cusolverEigMode_t job, int rank, int m, int n, const T* a, int lda, long long stride_a,    \
      const R* s, long long stride_s, const T* u, int ldu, long long stride_u, const T* v, int ldv, long long stride_v,     \
      int* lwork, int batch);                                                                                               \
  cusolverStatus_t cusolverDn##X##gesvdaStridedBatched(                                                                     \
      cusolverDnHandle_t handle, cusolverEigMode_t job, int rank, int m, int n, const T* a, int lda, long long stride_a,    \
      R* s, long long stride_s, T* u, int ldu, long long stride_u, T* v, int ldv, long long stride_v, T* work, int lwork,   \
      int* info, double* norms, int batch);                                                                                 \
  cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a[], int lda,    \
                                               int* info, int batch);                                                       \
  cusolverStatus_t cusolverDn##X##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, T* a[],   \
                                               int lda, T* b[], int ldb, int* info, int batch);
RIDGE_TYPED(S, float, float, sy)
RIDGE_TYPED(D, double, double, sy)
RIDGE_TYPED(C, cuComplex, float, he)
RIDGE_TYPED(Z, cuDoubleComplex, double, he)
#undef RIDGE_TYPED

// x = a^-1 b. The first letter is the type of the numbers, the second the lower precision that refinement would start in.
#define RIDGE_REFINED(X, Y, T)                                                                                              \
  cusolverStatus_t cusolverDn##X##Y##gesv_bufferSize(                                                                       \
      cusolverDnHandle_t handle, cusolver_int_t n, cusolver_int_t nrhs, T* a, cusolver_int_t lda, cusolver_int_t* pivots,   \
      T* b, cusolver_int_t ldb, T* x, cusolver_int_t ldx, void* work, size_t* bytes);                                       \
  cusolverStatus_t cusolverDn##X##Y##gesv(cusolverDnHandle_t handle, cusolver_int_t n, cusolver_int_t nrhs, T* a,           \
                                          cusolver_int_t lda, cusolver_int_t* pivots, T* b, cusolver_int_t ldb, T* x,       \
                                          cusolver_int_t ldx, void* work, size_t bytes, cusolver_int_t* iterations,         \
                                          cusolver_int_t* info);
#define RIDGE_REFINED_ALL(F)                                                                                                \
  F(S, S, float) F(S, H, float) F(S, B, float) F(S, X, float)                                                               \
  F(D, D, double) F(D, S, double) F(D, H, double) F(D, B, double) F(D, X, double)                                           \
  F(C, C, cuComplex) F(C, K, cuComplex) F(C, E, cuComplex) F(C, Y, cuComplex)                                               \
  F(Z, Z, cuDoubleComplex) F(Z, C, cuDoubleComplex) F(Z, K, cuDoubleComplex) F(Z, E, cuDoubleComplex)                       \
  F(Z, Y, cuDoubleComplex)
RIDGE_REFINED_ALL(RIDGE_REFINED)
#undef RIDGE_REFINED
RIDGE_END_C
