// What cuBLAS refuses, and that it says so by a status.
#include <cublas_v2.h>

#include <cstring>

#include "check.hpp"

int main() {
  cublasHandle_t handle;
  expect(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  float *p, one = 1;
  cudaMalloc(&p, 4096);
  auto gemm = [&](cublasHandle_t h, int m, int n, int k, const float* alpha, int lda, int ldb, int ldc) {
    return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha, p, lda, p, ldb, &one, p, ldc);
  };
  expect(gemm(nullptr, 4, 4, 4, &one, 4, 4, 4) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  expect(gemm(handle, -1, 4, 4, &one, 4, 4, 4) == CUBLAS_STATUS_INVALID_VALUE, "m < 0");
  expect(gemm(handle, 4, 4, 4, &one, 3, 4, 4) == CUBLAS_STATUS_INVALID_VALUE, "lda < m");
  expect(gemm(handle, 4, 4, 4, &one, 4, 3, 4) == CUBLAS_STATUS_INVALID_VALUE, "ldb < k");
  expect(gemm(handle, 4, 4, 4, &one, 4, 4, 3) == CUBLAS_STATUS_INVALID_VALUE, "ldc < m");
  expect(gemm(handle, 0, 4, 4, &one, 4, 4, 4) == CUBLAS_STATUS_SUCCESS, "an empty product");
  expect(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, p, CUDA_R_64F, 4, p, CUDA_R_16F, 4, &one, p,
                      CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
         "types that do not go together");
  expect(!std::strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE"), "name");
  expect(cublasGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED)[0] != 0, "string");
  expect(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
  std::puts("ok");
}
