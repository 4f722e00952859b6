// Streams, events, error texts.
#include <cstring>

#include "driver/driver.hpp"

using namespace ridge::simt::driver;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return runtime([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return runtime([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return runtime([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return runtime([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return runtime([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return runtime([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return runtime([&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return runtime([&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return runtime([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return runtime([&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return runtime([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventQuery(CUevent event) {
  return runtime([&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return runtime([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return runtime([&] { return cudaEventElapsedTime(milliseconds, from, to); });
}
CUresult cuProfilerStart() {
  return runtime([] { return cudaProfilerStart(); });
}
CUresult cuProfilerStop() {
  return runtime([] { return cudaProfilerStop(); });
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static constexpr struct {
    CUresult error;
    const char* name;
  } kNames[] = {
#define RIDGE_NAME(e) {e, #e},
      RIDGE_NAME(CUDA_SUCCESS) RIDGE_NAME(CUDA_ERROR_INVALID_VALUE) RIDGE_NAME(CUDA_ERROR_OUT_OF_MEMORY) RIDGE_NAME(
          CUDA_ERROR_NOT_INITIALIZED) RIDGE_NAME(CUDA_ERROR_DEINITIALIZED) RIDGE_NAME(CUDA_ERROR_STUB_LIBRARY)
          RIDGE_NAME(CUDA_ERROR_NO_DEVICE) RIDGE_NAME(CUDA_ERROR_INVALID_DEVICE) RIDGE_NAME(CUDA_ERROR_INVALID_IMAGE)
              RIDGE_NAME(CUDA_ERROR_INVALID_CONTEXT) RIDGE_NAME(CUDA_ERROR_MAP_FAILED)
                  RIDGE_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU) RIDGE_NAME(CUDA_ERROR_ECC_UNCORRECTABLE)
                      RIDGE_NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) RIDGE_NAME(CUDA_ERROR_INVALID_PTX) RIDGE_NAME(
                          CUDA_ERROR_JIT_COMPILER_NOT_FOUND) RIDGE_NAME(CUDA_ERROR_INVALID_SOURCE)
                          RIDGE_NAME(CUDA_ERROR_FILE_NOT_FOUND) RIDGE_NAME(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)
                              RIDGE_NAME(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED) RIDGE_NAME(CUDA_ERROR_OPERATING_SYSTEM)
                                  RIDGE_NAME(CUDA_ERROR_INVALID_HANDLE) RIDGE_NAME(CUDA_ERROR_ILLEGAL_STATE)
                                      RIDGE_NAME(CUDA_ERROR_NOT_FOUND) RIDGE_NAME(CUDA_ERROR_NOT_READY) RIDGE_NAME(
                                          CUDA_ERROR_ILLEGAL_ADDRESS) RIDGE_NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
                                          RIDGE_NAME(CUDA_ERROR_LAUNCH_TIMEOUT)
                                              RIDGE_NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
                                                  RIDGE_NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
                                                      RIDGE_NAME(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE) RIDGE_NAME(
                                                          CUDA_ERROR_CONTEXT_IS_DESTROYED) RIDGE_NAME(CUDA_ERROR_ASSERT)
                                                          RIDGE_NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
                                                              RIDGE_NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
                                                                  RIDGE_NAME(CUDA_ERROR_MISALIGNED_ADDRESS)
                                                                      RIDGE_NAME(CUDA_ERROR_LAUNCH_FAILED) RIDGE_NAME(
                                                                          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
                                                                          RIDGE_NAME(CUDA_ERROR_NOT_PERMITTED)
                                                                              RIDGE_NAME(CUDA_ERROR_NOT_SUPPORTED)
                                                                                  RIDGE_NAME(CUDA_ERROR_UNKNOWN)
#undef RIDGE_NAME
  };
  for (const auto& known : kNames)
    if (known.error == error) return *text = known.name, CUDA_SUCCESS;
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  const char* name = nullptr;
  if (const CUresult unknown = cuGetErrorName(error, &name); unknown != CUDA_SUCCESS) {
    if (text != nullptr) *text = nullptr;
    return unknown;
  }
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  // Errors that the runtime API has no number for.
  if (std::strcmp(*text, "unrecognized error code") == 0) *text = name;
  return CUDA_SUCCESS;
}
}
