// cuBLAS's factorisations of many small matrices, on the host in the order of the stream.
#pragma once
#include "../cuComplex.h"

#define RIDGE_BATCHED(X, T)                                                                                                  \
  cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info,        \
                                         int batch);                                                                         \
  cublasStatus_t cublas##X##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots,       \
                                         T* const c[], int ldc, int* info, int batch);                                       \
  cublasStatus_t cublas##X##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int nrhs, const T* const a[],   \
                                         int lda, const int* pivots, T* const b[], int ldb, int* info, int batch);           \
  cublasStatus_t cublas##X##matinvBatched(cublasHandle_t handle, int n, const T* const a[], int lda, T* const inverse[],     \
                                          int ld, int* info, int batch);                                                     \
  cublasStatus_t cublas##X##geqrfBatched(cublasHandle_t handle, int m, int n, T* const a[], int lda, T* const tau[],         \
                                         int* info, int batch);                                                              \
  cublasStatus_t cublas##X##gelsBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, int nrhs, T* const a[],   \
                                        int lda, T* const c[], int ldc, int* info, int* each, int batch);

RIDGE_BEGIN_C
RIDGE_BATCHED(S, float)
RIDGE_BATCHED(D, double)
RIDGE_BATCHED(C, cuComplex)
RIDGE_BATCHED(Z, cuDoubleComplex)
RIDGE_END_C
#undef RIDGE_BATCHED
