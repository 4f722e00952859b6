// The interface of cuBLAS before handles, for programs that still ask for <cublas.h>: real numbers in single and double
// precision. A call that fails says so to cublasGetError. A program may include cublas_v2.h too: both are overloads.
#pragma once
#include <cuda_runtime.h>

#include "cublas_v2.h"

#define cublasStatus cublasStatus_t

extern "C" {
cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);
cublasStatus_t cublasAlloc(int n, int bytes, void** device_pointer);
cublasStatus_t cublasFree(void* device_pointer);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);
// Ours: the handle between cublasInit and cublasShutdown; the first error since the last cublasGetError.
cublasHandle_t ridge_cublas_handle(void);
void ridge_cublas_error(cublasStatus_t status);
}

inline cublasStatus_t cublasGetVersion(int* version) { return cublasGetVersion(ridge_cublas_handle(), version); }

// The letters of BLAS. Any other becomes an operation that no function takes.
inline cublasOperation_t ridge_cublas_operation(char letter) {
  switch (letter) {
    case 'n':
    case 'N':
      return CUBLAS_OP_N;
    case 't':
    case 'T':
      return CUBLAS_OP_T;
    case 'c':
    case 'C':
      return CUBLAS_OP_C;
    default:
      return CUBLAS_OP_CONJG;
  }
}

// T: the type; Large and small: its letter in the names.
#define RIDGE_CUBLAS_OF(T, Large, small) \
inline void cublas##Large##gemm(char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda,           \
                        const T* b, int ldb, T beta, T* c, int ldc) {                                                  \
  ridge_cublas_error(cublas##Large##gemm(ridge_cublas_handle(), ridge_cublas_operation(transa), ridge_cublas_operation(transb), \
                                 m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));                                     \
}                                                                                                                      \
inline void cublas##Large##gemv(char trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx,          \
                        T beta, T* y, int incy) {                                                                      \
  ridge_cublas_error(                                                                                                  \
      cublas##Large##gemv(ridge_cublas_handle(), ridge_cublas_operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy)); \
}                                                                                                                      \
inline void cublas##Large##ger(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a,                \
                       int lda) {                                                                                      \
  ridge_cublas_error(cublas##Large##ger(ridge_cublas_handle(), m, n, &alpha, x, incx, y, incy, a, lda));               \
}                                                                                                                      \
inline void cublas##Large##axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {                                \
  ridge_cublas_error(cublas##Large##axpy(ridge_cublas_handle(), n, &alpha, x, incx, y, incy));                         \
}                                                                                                                      \
inline void cublas##Large##scal(int n, T alpha, T* x, int incx) {                                                      \
  ridge_cublas_error(cublas##Large##scal(ridge_cublas_handle(), n, &alpha, x, incx));                                  \
}                                                                                                                      \
inline void cublas##Large##copy(int n, const T* x, int incx, T* y, int incy) {                                         \
  ridge_cublas_error(cublas##Large##copy(ridge_cublas_handle(), n, x, incx, y, incy));                                 \
}                                                                                                                      \
inline void cublas##Large##swap(int n, T* x, int incx, T* y, int incy) {                                               \
  ridge_cublas_error(cublas##Large##swap(ridge_cublas_handle(), n, x, incx, y, incy));                                 \
}                                                                                                                      \
inline T cublas##Large##dot(int n, const T* x, int incx, const T* y, int incy) {                                       \
  T result = 0;                                                                                                        \
  ridge_cublas_error(cublas##Large##dot(ridge_cublas_handle(), n, x, incx, y, incy, &result));                         \
  return result;                                                                                                       \
}                                                                                                                      \
inline T cublas##Large##nrm2(int n, const T* x, int incx) {                                                            \
  T result = 0;                                                                                                        \
  ridge_cublas_error(cublas##Large##nrm2(ridge_cublas_handle(), n, x, incx, &result));                                 \
  return result;                                                                                                       \
}                                                                                                                      \
inline T cublas##Large##asum(int n, const T* x, int incx) {                                                            \
  T result = 0;                                                                                                        \
  ridge_cublas_error(cublas##Large##asum(ridge_cublas_handle(), n, x, incx, &result));                                 \
  return result;                                                                                                       \
}                                                                                                                      \
inline int cublasI##small##amax(int n, const T* x, int incx) {                                                         \
  int result = 0;                                                                                                      \
  ridge_cublas_error(cublasI##small##amax(ridge_cublas_handle(), n, x, incx, &result));                                \
  return result;                                                                                                       \
}                                                                                                                      \
inline int cublasI##small##amin(int n, const T* x, int incx) {                                                         \
  int result = 0;                                                                                                      \
  ridge_cublas_error(cublasI##small##amin(ridge_cublas_handle(), n, x, incx, &result));                                \
  return result;                                                                                                       \
}
RIDGE_CUBLAS_OF(float, S, s)
RIDGE_CUBLAS_OF(double, D, d)
#undef RIDGE_CUBLAS_OF
