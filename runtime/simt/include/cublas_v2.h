// The dense linear algebra of cuBLAS that courses and kernels use, on the CPU. Matrices are column-major. Sums are exact to
// the compute type's accumulator (float, double or int32) in the order of k.
#pragma once
#define CUBLAS_V2_H_
#define CUBLAS_API_H_
#include "cuComplex.h"
#if defined(__cplusplus) && __cplusplus >= 201703L
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif
#include "cuda_runtime_api.h"
#include "library_types.h"

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_CONJG = 3 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
  CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
} cublasMath_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_AUTOTUNE = 999,
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
  CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
} cublasComputeType_t;
typedef enum {
  CUBLAS_EMULATION_STRATEGY_DEFAULT = 0,
  CUBLAS_EMULATION_STRATEGY_PERFORMANT = 1,
  CUBLAS_EMULATION_STRATEGY_EAGER = 2,
} cublasEmulationStrategy_t;
typedef struct cublasContext* cublasHandle_t;

RIDGE_BEGIN_C
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int multiprocessors);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* multiprocessors);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cublasEmulationStrategy_t strategy);
cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle, cublasEmulationStrategy_t* strategy);
cublasStatus_t cublasSetEmulationSpecialValuesSupport(cublasHandle_t handle, cudaEmulationSpecialValuesSupport mask);
cublasStatus_t cublasGetEmulationSpecialValuesSupport(cublasHandle_t handle, cudaEmulationSpecialValuesSupport* mask);
cublasStatus_t cublasSetFixedPointEmulationMantissaControl(cublasHandle_t handle, cudaEmulationMantissaControl control);
cublasStatus_t cublasGetFixedPointEmulationMantissaControl(cublasHandle_t handle, cudaEmulationMantissaControl* control);
cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t handle, int bits);
cublasStatus_t cublasGetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t handle, int* bits);
cublasStatus_t cublasSetFixedPointEmulationMantissaBitOffset(cublasHandle_t handle, int offset);
cublasStatus_t cublasGetFixedPointEmulationMantissaBitOffset(cublasHandle_t handle, int* offset);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* device_y, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void* device_x, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* device_b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* device_a, int lda, void* b, int ldb);

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const float* alpha, const float* a,
                           int lda, const float* b, int ldb, const float* beta, float* c, int ldc);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                         const float* a, int lda, long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc, long long stride_c,
                                         int batch);
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                  const float* const a[], int lda, const float* const b[], int ldb, const float* beta,
                                  float* const c[], int ldc, int batch);
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const double* alpha, const double* a,
                           int lda, const double* b, int ldb, const double* beta, double* c, int ldc);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const double* alpha,
                                         const double* a, int lda, long long stride_a, const double* b, int ldb,
                                         long long stride_b, const double* beta, double* c, int ldc, long long stride_c,
                                         int batch);
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const double* alpha,
                                  const double* const a[], int lda, const double* const b[], int ldb, const double* beta,
                                  double* const c[], int ldc, int batch);
#if defined(__cplusplus) && __cplusplus >= 201703L
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const __half* alpha, const __half* a,
                           int lda, const __half* b, int ldb, const __half* beta, __half* c, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const __half* alpha,
                                         const __half* a, int lda, long long stride_a, const __half* b, int ldb,
                                         long long stride_b, const __half* beta, __half* c, int ldc, long long stride_c,
                                         int batch);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const __half* alpha,
                                  const __half* const a[], int lda, const __half* const b[], int ldb, const __half* beta,
                                  __half* const c[], int ldc, int batch);
#endif
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType atype, int lda, const void* b,
                            cudaDataType btype, int ldb, const void* beta, void* c, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType atype, int lda,
                                          long long stride_a, const void* b, cudaDataType btype, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType ctype, int ldc,
                                          long long stride_c, int batch, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType atype, int lda, const void* b,
                             cudaDataType btype, int ldb, const float* beta, void* c, cudaDataType ctype, int ldc);
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha, const float* a, int lda, const float* x, int incx, const float* beta, float* y, int incy);
cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float* alpha, const float* x, int incx, const float* y, int incy, float* a, int lda);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const float* alpha, const float* a, int lda, const float* beta, const float* b, int ldb, float* c, int ldc);
cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y, int incy);
cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x, int incx);
cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy);
cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy);
// The numbers of both vectors and the result are of one type: half, bfloat16, float or double.
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx, const void* y,
                           cudaDataType y_type, int incy, void* result, cudaDataType result_type, cudaDataType execution_type);
cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy, float* result);
cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float* x, int incx, float* result);
cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float* x, int incx, float* result);
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha, const double* a, int lda, const double* x, int incx, const double* beta, double* y, int incy);
cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double* alpha, const double* x, int incx, const double* y, int incy, double* a, int lda);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const double* alpha, const double* a, int lda, const double* beta, const double* b, int ldb, double* c, int ldc);
cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx, double* y, int incy);
cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double* alpha, double* x, int incx);
cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy);
cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy);
cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy, double* result);
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double* x, int incx, double* result);
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double* x, int incx, double* result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result);
RIDGE_END_C

#ifdef __cplusplus
inline cublasComputeType_t ridge_compute_type(cudaDataType t) {
  return t == CUDA_R_16F                       ? CUBLAS_COMPUTE_16F
         : t == CUDA_R_64F || t == CUDA_C_64F ? CUBLAS_COMPUTE_64F
         : t == CUDA_R_32I                    ? CUBLAS_COMPUTE_32I
                                              : CUBLAS_COMPUTE_32F;
}
#endif

#include "ridge_simt/cublas_batched.h"
#ifndef RIDGE_JUDGED  // a submission writes it itself
#include "ridge_simt/cublas_levels.h"
#include "ridge_simt/cublas_v2_names.h"
#if defined(__cplusplus) && __cplusplus >= 201703L
#include "ridge_simt/cublas_64.h"
#endif
#endif

#ifdef __cplusplus

// The library's enumeration in place of cuBLAS's own.
inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cudaEmulationStrategy strategy) {
  return cublasSetEmulationStrategy(handle, static_cast<cublasEmulationStrategy_t>(strategy));
}
inline cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle, cudaEmulationStrategy* strategy) {
  return cublasGetEmulationStrategy(handle, reinterpret_cast<cublasEmulationStrategy_t*>(strategy));
}

// With the type of computing as a type of numbers, as before CUDA 11.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType atype, int lda, const void* b,
                                   cudaDataType btype, int ldb, const void* beta, void* c, cudaDataType ctype, int ldc,
                                   cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc,
                      ridge_compute_type(compute), algorithm);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                                 int m, int n, int k, const void* alpha, const void* a,
                                                 cudaDataType atype, int lda, long long stride_a, const void* b,
                                                 cudaDataType btype, int ldb, long long stride_b, const void* beta,
                                                 void* c, cudaDataType ctype, int ldc, long long stride_c, int batch,
                                                 cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, atype, lda, stride_a, b, btype, ldb,
                                    stride_b, beta, c, ctype, ldc, stride_c, batch, ridge_compute_type(compute),
                                    algorithm);
}
#endif
