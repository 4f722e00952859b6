// The device as a whole: selection, waiting, flags, limits and versions. There is one device, number 0.
#include <cstdio>
#include <unordered_map>

#include "api.hpp"

using namespace ridge::simt;
using api::call;

namespace {

unsigned device_flags = cudaDeviceMapHost;
cudaFuncCache cache_config = cudaFuncCachePreferNone;

std::unordered_map<int, std::size_t>& limits() {
  // CUDA's own defaults; the stack's is what the emulator has.
  static auto* values = new std::unordered_map<int, std::size_t>{
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, 7340032},
      {cudaLimitMallocHeapSize, 8388608},
      {cudaLimitDevRuntimeSyncDepth, 2},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 0},
  };
  return *values;
}

cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return api::keep(cudaErrorInvalidValue);
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return api::keep(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call([&](Engine&) { return check_device(device); });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (devices == nullptr || count <= 0) return api::keep(cudaErrorInvalidValue);
  return cudaSetDevice(devices[0]);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  return prop == nullptr ? api::keep(cudaErrorInvalidValue) : cudaGetDevice(device);
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return api::keep(cudaErrorInvalidValue);
  *flags = device_flags;
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  if ((flags & ~unsigned{cudaDeviceMask}) != 0) return api::keep(cudaErrorInvalidValue);
  device_flags = flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  return call([](Engine& engine) {
    if (cudaError_t error = api::device_wait_forbidden()) return error;
    engine.wait_all("cudaDeviceSynchronize");
    return cudaSuccess;
  });
}

// Work in flight is finished and a fault forgotten; allocations stay, unlike on a GPU.
cudaError_t cudaDeviceReset(void) {
  if (cudaError_t error = api::refusal()) return error;
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.wait_all("cudaDeviceReset");
  engine.clear();
  api::forget();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&](Engine&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    auto at = limits().find(limit);
    if (at == limits().end()) return cudaErrorUnsupportedLimit;
    *value = at->second;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&](Engine&) {
    auto at = limits().find(limit);
    if (at == limits().end()) return cudaErrorUnsupportedLimit;
    at->second = value;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return api::keep(cudaErrorInvalidValue);
  *config = cache_config;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  cache_config = config;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Engine&) {
    if (text == nullptr || length < 13) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Engine&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (device != 0 || peer != 0) return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return api::keep(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return api::keep(cudaErrorInvalidDevice); }

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return api::keep(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) { return api::keep(cudaErrorNotSupported); }
cudaError_t cudaIpcCloseMemHandle(void*) { return api::keep(cudaErrorNotSupported); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return api::keep(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return api::keep(cudaErrorNotSupported); }

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return api::keep(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
}
