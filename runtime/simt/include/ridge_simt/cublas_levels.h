// The rest of BLAS's three levels in cuBLAS, by the host's BLAS, for programs that are linked with -lcublas. Vectors and
// matrices are on the device; scalars are where the handle's pointer mode says.
#pragma once
#include "../cuComplex.h"

// X: the letter of the type T, R: its real numbers, RX: their letter.
#define RIDGE_LEVEL_1(X, T, R)                                                                                              \
  cublasStatus_t cublas##X##rotg(cublasHandle_t handle, T* a, T* b, R* c, T* s);

#define RIDGE_LEVEL_1_COMPLEX(X, T, R, RX)                                                                                  \
  cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy);       \
  cublasStatus_t cublas##X##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx);                             \
  cublasStatus_t cublas##X##RX##scal(cublasHandle_t handle, int n, const R* alpha, T* x, int incx);                         \
  cublasStatus_t cublas##X##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy);                       \
  cublasStatus_t cublas##X##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy);                             \
  cublasStatus_t cublas##X##dotu(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result);      \
  cublasStatus_t cublas##X##dotc(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result);      \
  cublasStatus_t cublas##X##rot(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c, const T* s);      \
  cublasStatus_t cublas##X##RX##rot(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c,               \
                                    const R* s);

#define RIDGE_LEVEL_1_REAL(X, T)                                                                                            \
  cublasStatus_t cublas##X##rot(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const T* c, const T* s);      \
  cublasStatus_t cublas##X##rotm(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const T* param);             \
  cublasStatus_t cublas##X##rotmg(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* param);

// Level 2. The names of symmetric and Hermitian matrices are those of sy, sb and sp, or he, hb and hp.
#define RIDGE_LEVEL_2(X, T)                                                                                                 \
  cublasStatus_t cublas##X##gbmv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int kl, int ku,              \
                                 const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y,            \
                                 int incy);                                                                                 \
  cublasStatus_t cublas##X##trmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, const T* a, int lda, T* x, int incx);                        \
  cublasStatus_t cublas##X##trsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, const T* a, int lda, T* x, int incx);                        \
  cublasStatus_t cublas##X##tbmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, int k, const T* a, int lda, T* x, int incx);                 \
  cublasStatus_t cublas##X##tbsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, int k, const T* a, int lda, T* x, int incx);                 \
  cublasStatus_t cublas##X##tpmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, const T* ap, T* x, int incx);                                \
  cublasStatus_t cublas##X##tpsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
                                 cublasDiagType_t diag, int n, const T* ap, T* x, int incx);                                \
  cublasStatus_t cublas##X##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* a, int lda,  \
                                 const T* x, int incx, const T* beta, T* y, int incy);                                      \
  cublasStatus_t cublas##X##syr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* x, int incx,  \
                                T* a, int lda);

// R: float or double. The names of real matrices are sb, sp, sy, those of complex ones hb, hp, he.
#define RIDGE_LEVEL_2_SELF_ADJOINT(X, T, R, b, p)                                                                           \
  cublasStatus_t cublas##X##b##mv(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const T* alpha, const T* a,   \
                                  int lda, const T* x, int incx, const T* beta, T* y, int incy);                            \
  cublasStatus_t cublas##X##p##mv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* ap,         \
                                  const T* x, int incx, const T* beta, T* y, int incy);                                     \
  cublasStatus_t cublas##X##p##r(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R* alpha, const T* x, int incx, \
                                 T* ap);                                                                                    \
  cublasStatus_t cublas##X##p##r2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* x,          \
                                  int incx, const T* y, int incy, T* ap);

#define RIDGE_LEVEL_2_SYR2(X, T)                                                                                            \
  cublasStatus_t cublas##X##syr2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* x, int incx, \
                                 const T* y, int incy, T* a, int lda);

#define RIDGE_LEVEL_2_COMPLEX(X, T, R)                                                                                      \
  cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha, const T* a,  \
                                 int lda, const T* x, int incx, const T* beta, T* y, int incy);                             \
  cublasStatus_t cublas##X##geru(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,     \
                                 int incy, T* a, int lda);                                                                  \
  cublasStatus_t cublas##X##gerc(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,     \
                                 int incy, T* a, int lda);                                                                  \
  cublasStatus_t cublas##X##hemv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* a, int lda,  \
                                 const T* x, int incx, const T* beta, T* y, int incy);                                      \
  cublasStatus_t cublas##X##her(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R* alpha, const T* x, int incx,  \
                                T* a, int lda);                                                                             \
  cublasStatus_t cublas##X##her2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* x, int incx, \
                                 const T* y, int incy, T* a, int lda);

// Level 3, and what works on whole matrices. trmm writes c, which may be b.
#define RIDGE_LEVEL_3(X, T)                                                                                                 \
  cublasStatus_t cublas##X##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
                                 const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);   \
  cublasStatus_t cublas##X##syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
                                 const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc);                        \
  cublasStatus_t cublas##X##syr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,      \
                                  const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);  \
  cublasStatus_t cublas##X##syrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,      \
                                  const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);  \
  cublasStatus_t cublas##X##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
                                 cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha, const T* a,  \
                                 int lda, const T* b, int ldb, T* c, int ldc);                                              \
  cublasStatus_t cublas##X##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
                                 cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha, const T* a,  \
                                 int lda, T* b, int ldb);                                                                   \
  cublasStatus_t cublas##X##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                \
                                        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha,       \
                                        const T* const a[], int lda, T* const b[], int ldb, int batch);                     \
  cublasStatus_t cublas##X##gemvBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,       \
                                        const T* const a[], int lda, const T* const x[], int incx, const T* beta,           \
                                        T* const y[], int incy, int batch);                                                 \
  cublasStatus_t cublas##X##gemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,                \
                                               const T* alpha, const T* a, int lda, long long stride_a, const T* x,         \
                                               int incx, long long stride_x, const T* beta, T* y, int incy,                 \
                                               long long stride_y, int batch);                                              \
  cublasStatus_t cublas##X##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, int lda,           \
                                 const T* x, int incx, T* c, int ldc);                                                      \
  cublasStatus_t cublas##X##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* ap, T* a, int lda);         \
  cublasStatus_t cublas##X##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* a, int lda, T* ap);

#define RIDGE_LEVEL_3_REAL(X, T)                                                                                            \
  cublasStatus_t cublas##X##gemmGroupedBatched(cublasHandle_t handle, const cublasOperation_t transa[],                     \
                                               const cublasOperation_t transb[], const int m[], const int n[],              \
                                               const int k[], const T alpha[], const T* const a[], const int lda[],         \
                                               const T* const b[], const int ldb[], const T beta[], T* const c[],           \
                                               const int ldc[], int groups, const int group_size[]);

#define RIDGE_LEVEL_3_COMPLEX(X, T, R)                                                                                      \
  cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
                                 int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,      \
                                 int ldc);                                                                                  \
  cublasStatus_t cublas##X##gemm3m(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, \
                                   int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,    \
                                   int ldc);                                                                                \
  cublasStatus_t cublas##X##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,   \
                                        int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[],      \
                                        int ldb, const T* beta, T* const c[], int ldc, int batch);                          \
  cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                                               int m, int n, int k, const T* alpha, const T* a, int lda,                    \
                                               long long stride_a, const T* b, int ldb, long long stride_b, const T* beta,  \
                                               T* c, int ldc, long long stride_c, int batch);                               \
  cublasStatus_t cublas##X##hemm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
                                 const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);   \
  cublasStatus_t cublas##X##herk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
                                 const R* alpha, const T* a, int lda, const R* beta, T* c, int ldc);                        \
  cublasStatus_t cublas##X##her2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,      \
                                  const T* alpha, const T* a, int lda, const T* b, int ldb, const R* beta, T* c, int ldc);  \
  cublasStatus_t cublas##X##herkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,      \
                                  const T* alpha, const T* a, int lda, const T* b, int ldb, const R* beta, T* c, int ldc);  \
  cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
                                 const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc);

RIDGE_BEGIN_C
RIDGE_LEVEL_1(S, float, float)
RIDGE_LEVEL_1(D, double, double)
RIDGE_LEVEL_1(C, cuComplex, float)
RIDGE_LEVEL_1(Z, cuDoubleComplex, double)
RIDGE_LEVEL_1_REAL(S, float)
RIDGE_LEVEL_1_REAL(D, double)
RIDGE_LEVEL_1_COMPLEX(C, cuComplex, float, s)
RIDGE_LEVEL_1_COMPLEX(Z, cuDoubleComplex, double, d)
RIDGE_LEVEL_2(S, float)
RIDGE_LEVEL_2(D, double)
RIDGE_LEVEL_2(C, cuComplex)
RIDGE_LEVEL_2(Z, cuDoubleComplex)
RIDGE_LEVEL_2_SELF_ADJOINT(S, float, float, sb, sp)
RIDGE_LEVEL_2_SELF_ADJOINT(D, double, double, sb, sp)
RIDGE_LEVEL_2_SELF_ADJOINT(C, cuComplex, float, hb, hp)
RIDGE_LEVEL_2_SELF_ADJOINT(Z, cuDoubleComplex, double, hb, hp)
RIDGE_LEVEL_2_SYR2(S, float)
RIDGE_LEVEL_2_SYR2(D, double)
RIDGE_LEVEL_2_SYR2(C, cuComplex)
RIDGE_LEVEL_2_SYR2(Z, cuDoubleComplex)
RIDGE_LEVEL_2_COMPLEX(C, cuComplex, float)
RIDGE_LEVEL_2_COMPLEX(Z, cuDoubleComplex, double)
RIDGE_LEVEL_3(S, float)
RIDGE_LEVEL_3(D, double)
RIDGE_LEVEL_3(C, cuComplex)
RIDGE_LEVEL_3(Z, cuDoubleComplex)
RIDGE_LEVEL_3_REAL(S, float)
RIDGE_LEVEL_3_REAL(D, double)
RIDGE_LEVEL_3_COMPLEX(C, cuComplex, float)
RIDGE_LEVEL_3_COMPLEX(Z, cuDoubleComplex, double)
cublasStatus_t cublasScnrm2(cublasHandle_t handle, int n, const cuComplex* x, int incx, float* result);
cublasStatus_t cublasDznrm2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, double* result);
cublasStatus_t cublasScasum(cublasHandle_t handle, int n, const cuComplex* x, int incx, float* result);
cublasStatus_t cublasDzasum(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, double* result);
cublasStatus_t cublasIcamax(cublasHandle_t handle, int n, const cuComplex* x, int incx, int* result);
cublasStatus_t cublasIzamax(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, int* result);
cublasStatus_t cublasIcamin(cublasHandle_t handle, int n, const cuComplex* x, int incx, int* result);
cublasStatus_t cublasIzamin(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, int* result);

// With the types as arguments. Vectors, scalars and results are of one type: float, double, or complex of either;
// cublasNrm2Ex's result and cublasRotEx's c are real.
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alpha_type, const void* x,
                            cudaDataType x_type, int incx, void* y, cudaDataType y_type, int incy,
                            cudaDataType execution_type);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alpha_type, void* x,
                            cudaDataType x_type, int incx, cudaDataType execution_type);
cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx, const void* y,
                            cudaDataType y_type, int incy, void* result, cudaDataType result_type,
                            cudaDataType execution_type);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx, void* result,
                            cudaDataType result_type, cudaDataType execution_type);
cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void* x, cudaDataType x_type, int incx, void* y,
                           cudaDataType y_type, int incy, const void* c, const void* s, cudaDataType cs_type,
                           cudaDataType execution_type);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                   int k, const void* alpha, const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb, const void* beta, void* const c[],
                                   cudaDataType c_type, int ldc, int batch, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t transa[],
                                          const cublasOperation_t transb[], const int m[], const int n[], const int k[],
                                          const void* alpha, const void* const a[], cudaDataType a_type, const int lda[],
                                          const void* const b[], cudaDataType b_type, const int ldb[], const void* beta,
                                          void* const c[], cudaDataType c_type, const int ldc[], int groups,
                                          const int group_size[], cublasComputeType_t compute);
cublasStatus_t cublasCsyrkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                             const cuComplex* alpha, const void* a, cudaDataType a_type, int lda, const cuComplex* beta,
                             void* c, cudaDataType c_type, int ldc);
cublasStatus_t cublasCsyrk3mEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                               const cuComplex* alpha, const void* a, cudaDataType a_type, int lda,
                               const cuComplex* beta, void* c, cudaDataType c_type, int ldc);
cublasStatus_t cublasCherkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                             const float* alpha, const void* a, cudaDataType a_type, int lda, const float* beta, void* c,
                             cudaDataType c_type, int ldc);
cublasStatus_t cublasCherk3mEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                               const float* alpha, const void* a, cudaDataType a_type, int lda, const float* beta,
                               void* c, cudaDataType c_type, int ldc);
RIDGE_END_C
#undef RIDGE_LEVEL_1
#undef RIDGE_LEVEL_1_REAL
#undef RIDGE_LEVEL_1_COMPLEX
#undef RIDGE_LEVEL_2
#undef RIDGE_LEVEL_2_SELF_ADJOINT
#undef RIDGE_LEVEL_2_SYR2
#undef RIDGE_LEVEL_2_COMPLEX
#undef RIDGE_LEVEL_3
#undef RIDGE_LEVEL_3_REAL
#undef RIDGE_LEVEL_3_COMPLEX

#ifdef __cplusplus
// With the type of computing as a type of numbers, as before CUDA 11.
inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                          int n, int k, const void* alpha, const void* const a[], cudaDataType a_type,
                                          int lda, const void* const b[], cudaDataType b_type, int ldb, const void* beta,
                                          void* const c[], cudaDataType c_type, int ldc, int batch, cudaDataType compute,
                                          cublasGemmAlgo_t algorithm) {
  return cublasGemmBatchedEx(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                             batch, ridge_compute_type(compute), algorithm);
}
#endif
