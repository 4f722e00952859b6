// A device as a whole: selection, waiting, flags, limits and versions.
#include <cstdio>
#include <map>
#include <utility>

#include "api/api.hpp"

using namespace ridge::simt;
using api::call;

namespace {

struct Settings {
  unsigned flags = cudaDeviceMapHost;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  // CUDA's own defaults; the stack's is what the emulator has.
  std::map<cudaLimit, std::size_t> limits = {
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, 7340032},
      {cudaLimitMallocHeapSize, 8388608},
      {cudaLimitDevRuntimeSyncDepth, 2},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 0},
  };
};

// Resets the current device. The engine's lock is held.
Settings& settings() {
  static auto* all = new std::map<int, Settings>;
  return (*all)[current_device()];
}

cudaError_t check_device(int device) { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return api::keep(cudaErrorInvalidValue);
  *count = device_count();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return api::keep(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call([&](Engine&) {
    if (cudaError_t error = check_device(device)) return error;
    set_current_device(device);
    return cudaSuccess;
  });
}
// Does not make it current.
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call([&](Engine&) { return check_device(device); });
}
// The first one is for threads that never choose; 0 devices: as if never called.
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&](Engine&) {
    if (count < 0 || count > device_count() || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (!is_device(devices[i])) return cudaErrorInvalidDevice;
    set_first_device(count == 0 ? 0 : devices[0]);
    return cudaSuccess;
  });
}
// All are alike.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  if (device == nullptr || prop == nullptr) return api::keep(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call([&](Engine&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = settings().flags;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&](Engine&) {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
    settings().flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return call([](Engine& engine) {
    if (cudaError_t error = api::device_wait_forbidden()) return error;
    engine.wait_device("cudaDeviceSynchronize", current_device());
    return cudaSuccess;
  });
}

// Work in flight is finished and a fault forgotten; allocations stay, unlike on a GPU.
cudaError_t cudaDeviceReset(void) {
  if (cudaError_t error = api::refusal()) return error;
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.wait_device("cudaDeviceReset", current_device());
  engine.clear();
  Peers::instance().reset(current_device());
  api::forget();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&](Engine&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    auto at = settings().limits.find(limit);
    if (at == settings().limits.end()) return cudaErrorUnsupportedLimit;
    *value = at->second;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&](Engine&) {
    auto at = settings().limits.find(limit);
    if (at == settings().limits.end()) return cudaErrorUnsupportedLimit;
    at->second = value;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call([&](Engine&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = settings().cache;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call([&](Engine&) {
    settings().cache = config;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Engine&) {
    if (text == nullptr || length < 13) return cudaErrorInvalidValue;
    if (cudaError_t error = check_device(device)) return error;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device));
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](Engine&) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, slot = 0;
    const bool read = std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3 ||
                      (domain = 0, std::sscanf(text, "%x:%x", &bus, &slot) == 2);
    if (!read || domain != 0 || slot != 0 || bus >= static_cast<unsigned>(device_count())) return cudaErrorInvalidValue;
    *device = static_cast<int>(bus);
    return cudaSuccess;
  });
}

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
