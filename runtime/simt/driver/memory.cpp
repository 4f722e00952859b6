// Memory and copies, as the runtime API has them.
#include "device/memory.hpp"

#include <cstdint>

#include "driver/driver.hpp"

using namespace ridge::simt::driver;

namespace {

CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return runtime([&] { return cudaMemcpy(to, from, bytes, kind); });
}
CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return runtime([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

// One side of a two-dimensional copy: where it begins. Null for arrays, which are not taken here.
char* side(CUmemorytype type, const void* host, CUdeviceptr device, size_t pitch, size_t x, size_t y) {
  char* base = nullptr;
  if (type == CU_MEMORYTYPE_HOST) base = static_cast<char*>(const_cast<void*>(host));
  if (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED) base = static_cast<char*>(pointer(device));
  return base == nullptr ? nullptr : base + y * pitch + x;
}

template <class Copy>
CUresult copy_2d(const CUDA_MEMCPY2D* c, Copy call) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const size_t to_pitch = c->dstPitch != 0 ? c->dstPitch : c->dstXInBytes + c->WidthInBytes;
  const size_t from_pitch = c->srcPitch != 0 ? c->srcPitch : c->srcXInBytes + c->WidthInBytes;
  char* to = side(c->dstMemoryType, c->dstHost, c->dstDevice, to_pitch, c->dstXInBytes, c->dstY);
  char* from = side(c->srcMemoryType, c->srcHost, c->srcDevice, from_pitch, c->srcXInBytes, c->srcY);
  if (c->dstMemoryType == CU_MEMORYTYPE_ARRAY || c->srcMemoryType == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] { return call(to, to_pitch, from, from_pitch); });
}

// Elements of two and four bytes: a row for each, whose bytes are set one after the other.
template <class T>
CUresult set(CUdeviceptr to, T value, size_t count, CUstream stream, bool wait) {
  if (to % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] {
    cudaError_t error = cudaSuccess;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    bool same = true;
    for (size_t b = 1; b < sizeof(T); ++b) same = same && bytes[b] == bytes[0];
    if (count == 0) return cudaSuccess;
    if (same)
      error = cudaMemsetAsync(pointer(to), bytes[0], count * sizeof(T), stream);
    else
      for (size_t b = 0; b < sizeof(T) && error == cudaSuccess; ++b)
        error = cudaMemset2DAsync(pointer(to + b), sizeof(T), bytes[b], 1, count, stream);
    return error == cudaSuccess && wait ? cudaStreamSynchronize(stream) : error;
  });
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return runtime([&] { return cudaMemGetInfo(free, total); });
}
CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] { return cudaMalloc(reinterpret_cast<void**>(out), bytes); });
}
CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  if (out == nullptr || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] { return cudaMallocPitch(reinterpret_cast<void**>(out), pitch, width, height); });
}
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] { return cudaMallocManaged(reinterpret_cast<void**>(out), bytes, flags); });
}
CUresult cuMemAllocHost(void** out, size_t bytes) {
  return runtime([&] { return cudaMallocHost(out, bytes); });
}
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return runtime([&] { return cudaMallocAsync(reinterpret_cast<void**>(out), bytes, stream); });
}
CUresult cuMemFree(CUdeviceptr p) {
  return runtime([&] { return cudaFree(pointer(p)); });
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream) {
  return runtime([&] { return cudaFreeAsync(pointer(p), stream); });
}
CUresult cuMemFreeHost(void* p) {
  return runtime([&] { return cudaFreeHost(p); });
}
CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return runtime([&] { return cudaHostAlloc(out, bytes, flags); });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* host, unsigned flags) {
  return runtime([&] { return cudaHostGetDevicePointer(reinterpret_cast<void**>(out), host, flags); });
}
CUresult cuMemHostRegister(void* p, size_t bytes, unsigned flags) {
  return runtime([&] { return cudaHostRegister(p, bytes, flags); });
}
CUresult cuMemHostUnregister(void* p) {
  return runtime([&] { return cudaHostUnregister(p); });
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr p) {
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  const auto& memory = ridge::simt::DeviceMemory::instance();
  const ridge::simt::Allocation* a = memory.contains(p) ? memory.nearest(p) : nullptr;
  if (a == nullptr || a->kind == ridge::simt::MemoryKind::freed || p >= a->begin + a->bytes)
    return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = a->begin;
  if (bytes != nullptr) *bytes = a->bytes;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr p) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaPointerAttributes a{};
  const CUresult error = runtime([&] { return cudaPointerGetAttributes(&a, pointer(p)); });
  if (error != CUDA_SUCCESS) return error;
  if (a.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return cuCtxGetCurrent(static_cast<CUcontext*>(value));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = a.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = reinterpret_cast<CUdeviceptr>(a.devicePointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(value) = a.hostPointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned char*>(value) = a.type == cudaMemoryTypeManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = a.device;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* c) {
  return copy_2d(c, [&](void* to, size_t to_pitch, const void* from, size_t from_pitch) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, c->WidthInBytes, c->Height, cudaMemcpyDefault);
  });
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* c) { return cuMemcpy2D(c); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* c, CUstream stream) {
  return copy_2d(c, [&](void* to, size_t to_pitch, const void* from, size_t from_pitch) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, c->WidthInBytes, c->Height, cudaMemcpyDefault, stream);
  });
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) { return set(to, value, count, nullptr, true); }
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return set(to, value, count, nullptr, true);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) { return set(to, value, count, nullptr, true); }
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return set(to, value, count, stream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return set(to, value, count, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return set(to, value, count, stream, false);
}
}
