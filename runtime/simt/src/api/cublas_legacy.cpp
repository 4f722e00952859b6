// What cublas.h keeps between its calls: one handle of the program, and the first error that nobody asked about.
#include "cublas.h"

namespace {

cublasHandle_t legacy_handle = nullptr;
cublasStatus_t legacy_error = CUBLAS_STATUS_SUCCESS;

}  // namespace

extern "C" {

cublasHandle_t ridge_cublas_handle() { return legacy_handle; }

void ridge_cublas_error(cublasStatus_t status) {
  if (legacy_error == CUBLAS_STATUS_SUCCESS) legacy_error = status;
}

cublasStatus_t cublasInit() { return legacy_handle != nullptr ? CUBLAS_STATUS_SUCCESS : cublasCreate(&legacy_handle); }

cublasStatus_t cublasShutdown() {
  const cublasStatus_t status = cublasDestroy(legacy_handle);
  legacy_handle = nullptr;
  return status;
}

cublasStatus_t cublasGetError() {
  const cublasStatus_t status = legacy_error;
  legacy_error = CUBLAS_STATUS_SUCCESS;
  return status;
}

cublasStatus_t cublasAlloc(int n, int bytes, void** device_pointer) {
  if (n <= 0 || bytes <= 0 || device_pointer == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(bytes);
  return cudaMalloc(device_pointer, size) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasFree(void* device_pointer) {
  return cudaFree(device_pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}

cublasStatus_t cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream(legacy_handle, stream); }

}  // extern "C"
