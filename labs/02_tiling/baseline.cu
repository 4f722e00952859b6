// The vendor's way: a device-to-device cudaMemcpy of the stencil's bytes, and cuBLAS in full fp32 for the product.
#include <cublas_v2.h>

#include "tiling.hpp"

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols),
                  cudaMemcpyDeviceToDevice, stream);
}

// cuBLAS thinks in columns: a row-major C = A B is to it the column-major C^T = B^T A^T.
void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t h = nullptr;
    cublasCreate(&h);
    cublasSetMathMode(h, CUBLAS_DEFAULT_MATH);  // no TF32
    return h;
  }();
  const float one = 1, zero = 0;
  cublasSetStream(handle, stream);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
}

void sgemm_shared(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                  cudaStream_t stream) {
  sgemm(a, b, c, m, n, k, nullptr, 0, stream);
}
void sgemm_registers(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                     cudaStream_t stream) {
  sgemm(a, b, c, m, n, k, nullptr, 0, stream);
}
void sgemm_async(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                 cudaStream_t stream) {
  sgemm(a, b, c, m, n, k, nullptr, 0, stream);
}
