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

// Single precision.
inline void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float* a, int lda,
                        const float* b, int ldb, float beta, float* c, int ldc) {
  ridge_cublas_error(cublasSgemm(ridge_cublas_handle(), ridge_cublas_operation(transa), ridge_cublas_operation(transb),
                                 m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
}
inline void cublasSgemv(char trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                        float beta, float* y, int incy) {
  ridge_cublas_error(
      cublasSgemv(ridge_cublas_handle(), ridge_cublas_operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));
}
inline void cublasSger(int m, int n, float alpha, const float* x, int incx, const float* y, int incy, float* a,
                       int lda) {
  ridge_cublas_error(cublasSger(ridge_cublas_handle(), m, n, &alpha, x, incx, y, incy, a, lda));
}
inline void cublasSaxpy(int n, float alpha, const float* x, int incx, float* y, int incy) {
  ridge_cublas_error(cublasSaxpy(ridge_cublas_handle(), n, &alpha, x, incx, y, incy));
}
inline void cublasSscal(int n, float alpha, float* x, int incx) {
  ridge_cublas_error(cublasSscal(ridge_cublas_handle(), n, &alpha, x, incx));
}
inline void cublasScopy(int n, const float* x, int incx, float* y, int incy) {
  ridge_cublas_error(cublasScopy(ridge_cublas_handle(), n, x, incx, y, incy));
}
inline void cublasSswap(int n, float* x, int incx, float* y, int incy) {
  ridge_cublas_error(cublasSswap(ridge_cublas_handle(), n, x, incx, y, incy));
}
inline float cublasSdot(int n, const float* x, int incx, const float* y, int incy) {
  float result = 0;
  ridge_cublas_error(cublasSdot(ridge_cublas_handle(), n, x, incx, y, incy, &result));
  return result;
}
inline float cublasSnrm2(int n, const float* x, int incx) {
  float result = 0;
  ridge_cublas_error(cublasSnrm2(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline float cublasSasum(int n, const float* x, int incx) {
  float result = 0;
  ridge_cublas_error(cublasSasum(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline int cublasIsamax(int n, const float* x, int incx) {
  int result = 0;
  ridge_cublas_error(cublasIsamax(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline int cublasIsamin(int n, const float* x, int incx) {
  int result = 0;
  ridge_cublas_error(cublasIsamin(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}

// Double precision.
inline void cublasDgemm(char transa, char transb, int m, int n, int k, double alpha, const double* a, int lda,
                        const double* b, int ldb, double beta, double* c, int ldc) {
  ridge_cublas_error(cublasDgemm(ridge_cublas_handle(), ridge_cublas_operation(transa), ridge_cublas_operation(transb),
                                 m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
}
inline void cublasDgemv(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                        double beta, double* y, int incy) {
  ridge_cublas_error(
      cublasDgemv(ridge_cublas_handle(), ridge_cublas_operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));
}
inline void cublasDger(int m, int n, double alpha, const double* x, int incx, const double* y, int incy, double* a,
                       int lda) {
  ridge_cublas_error(cublasDger(ridge_cublas_handle(), m, n, &alpha, x, incx, y, incy, a, lda));
}
inline void cublasDaxpy(int n, double alpha, const double* x, int incx, double* y, int incy) {
  ridge_cublas_error(cublasDaxpy(ridge_cublas_handle(), n, &alpha, x, incx, y, incy));
}
inline void cublasDscal(int n, double alpha, double* x, int incx) {
  ridge_cublas_error(cublasDscal(ridge_cublas_handle(), n, &alpha, x, incx));
}
inline void cublasDcopy(int n, const double* x, int incx, double* y, int incy) {
  ridge_cublas_error(cublasDcopy(ridge_cublas_handle(), n, x, incx, y, incy));
}
inline void cublasDswap(int n, double* x, int incx, double* y, int incy) {
  ridge_cublas_error(cublasDswap(ridge_cublas_handle(), n, x, incx, y, incy));
}
inline double cublasDdot(int n, const double* x, int incx, const double* y, int incy) {
  double result = 0;
  ridge_cublas_error(cublasDdot(ridge_cublas_handle(), n, x, incx, y, incy, &result));
  return result;
}
inline double cublasDnrm2(int n, const double* x, int incx) {
  double result = 0;
  ridge_cublas_error(cublasDnrm2(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline double cublasDasum(int n, const double* x, int incx) {
  double result = 0;
  ridge_cublas_error(cublasDasum(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline int cublasIdamax(int n, const double* x, int incx) {
  int result = 0;
  ridge_cublas_error(cublasIdamax(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
inline int cublasIdamin(int n, const double* x, int incx) {
  int result = 0;
  ridge_cublas_error(cublasIdamin(ridge_cublas_handle(), n, x, incx, &result));
  return result;
}
