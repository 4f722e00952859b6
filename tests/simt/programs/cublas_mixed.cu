// cublasGemmEx with fp16, bf16 and int8, strided and pointer batches.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "check.hpp"

const int n = 32;

template <class T, class C, class Scale>
void check(cublasHandle_t handle, cudaDataType_t in, cudaDataType_t out, cublasComputeType_t compute,
           const char* what) {
  T *a, *b;
  C* c;
  const int batch = 3;
  cudaMallocManaged(&a, batch * n * n * sizeof(T));
  cudaMallocManaged(&b, batch * n * n * sizeof(T));
  cudaMallocManaged(&c, batch * n * n * sizeof(C));
  for (int i = 0; i < batch * n * n; ++i) a[i] = T(float(i % 5) - 2), b[i] = T(float(i % 7) - 3), c[i] = C(1.0f);
  Scale alpha = Scale(1), beta = Scale(2);
  expect(
      cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &alpha, a, in, n, n * n, b, in, n, n * n,
                                 &beta, c, out, n, n * n, batch, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
      what);
  expect(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &alpha, a, in, n, b, in, n, &beta, c, out, n, compute,
                      CUBLAS_GEMM_DEFAULT_TENSOR_OP) == CUBLAS_STATUS_SUCCESS,
         what);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, what);
  for (int z = 0; z < batch; ++z)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int l = 0; l < n; ++l)
          sum += double(float(a[z * n * n + l + i * n])) * double(float(b[z * n * n + l + j * n]));
        double wanted = sum + 2;
        if (z == 0) wanted = sum + 2 * wanted;
        expect(
            std::fabs(double(float(c[z * n * n + i + j * n])) - wanted) <= std::fabs(wanted) / 100 * (sizeof(C) == 2),
            what);
      }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  check<half, half, float>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, "fp16");
  check<half, float, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, "fp16 to float");
  check<half, half, half>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, "fp16 throughout");
  check<__nv_bfloat16, __nv_bfloat16, float>(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, "bf16");
  check<__nv_bfloat16, float, float>(handle, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, "bf16 to float");
  check<signed char, int, int>(handle, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, "int8");
  check<float, float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, "float");

  float *data, **pointers;
  cudaMallocManaged(&data, 6 * 4 * sizeof(float));
  cudaMallocManaged(&pointers, 6 * sizeof(float*));
  for (int i = 0; i < 6; ++i) pointers[i] = data + 4 * i;
  for (int i = 0; i < 24; ++i) data[i] = i % 4 == 0 || i % 4 == 3 ? 1.0f + i / 4 : 0;
  const float one = 1, zero = 0;
  expect(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, pointers, 2, pointers + 2, 2, &zero,
                            pointers + 4, 2, 2) == CUBLAS_STATUS_SUCCESS,
         "batched");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "batched");
  expect(data[16] == 3 && data[19] == 3 && data[20] == 8 && data[17] == 0, "products of a batch");
  cublasDestroy(handle);
  std::puts("ok");
}
