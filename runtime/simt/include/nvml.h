// NVIDIA's management library, as far as an emulated device has something to manage: names, memory, clocks. What needs a
// sensor (power, temperature, utilisation) answers NVML_ERROR_NOT_SUPPORTED, as NVML does on devices without one.
#pragma once
#include <stdio.h>
#include <string.h>

#include "cuda_runtime_api.h"

#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_DEVICE_UUID_BUFFER_SIZE 80

enum nvmlReturn_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_UNKNOWN = 999
};
enum nvmlClockType_t { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_VIDEO };
enum nvmlTemperatureSensors_t { NVML_TEMPERATURE_GPU };
enum nvmlTemperatureThresholds_t { NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN };
typedef struct nvmlDevice_st* nvmlDevice_t;
struct nvmlMemory_t {
  unsigned long long total, free, used;  // bytes
};
struct nvmlUtilization_t {
  unsigned gpu, memory;  // percent
};

namespace ridge_simt {
inline int device_of(nvmlDevice_t handle) { return (int)(reinterpret_cast<size_t>(handle) - 1); }
inline bool device_properties(nvmlDevice_t handle, cudaDeviceProp& p) {
  return handle != nullptr && cudaGetDeviceProperties(&p, device_of(handle)) == cudaSuccess;
}
}  // namespace ridge_simt

inline const char* nvmlErrorString(nvmlReturn_t e) {
  switch (e) {
    case NVML_SUCCESS: return "The operation was successful";
    case NVML_ERROR_INVALID_ARGUMENT: return "A supplied argument is invalid";
    case NVML_ERROR_NOT_SUPPORTED: return "The emulated device has no such sensor";
    case NVML_ERROR_NOT_FOUND: return "No such device";
    default: return "An error occurred";
  }
}
inline nvmlReturn_t nvmlInit() { return NVML_SUCCESS; }
inline nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
inline nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }
inline nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  int n = 0;
  cudaGetDeviceCount(&n);
  *count = (unsigned)n;
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  unsigned count = 0;
  nvmlDeviceGetCount(&count);
  if (index >= count) return NVML_ERROR_NOT_FOUND;
  *device = reinterpret_cast<nvmlDevice_t>((size_t)index + 1);
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* id, nvmlDevice_t* device) {
  int index = 0;
  if (cudaDeviceGetByPCIBusId(&index, id) != cudaSuccess) return NVML_ERROR_NOT_FOUND;
  return nvmlDeviceGetHandleByIndex((unsigned)index, device);
}
inline nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  cudaDeviceProp p;
  if (!ridge_simt::device_properties(device, p)) return NVML_ERROR_INVALID_ARGUMENT;
  if (strlen(p.name) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  strcpy(name, p.name);
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  *index = (unsigned)ridge_simt::device_of(device);
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  int before = 0;
  size_t free = 0, total = 0;
  cudaGetDevice(&before);
  if (cudaSetDevice(ridge_simt::device_of(device)) != cudaSuccess) return NVML_ERROR_INVALID_ARGUMENT;
  cudaMemGetInfo(&free, &total);
  cudaSetDevice(before);
  *memory = {total, free, total - free};
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz) {
  int khz = 0;
  const cudaDeviceAttr which = type == NVML_CLOCK_MEM ? cudaDevAttrMemoryClockRate : cudaDevAttrClockRate;
  if (device == nullptr || cudaDeviceGetAttribute(&khz, which, ridge_simt::device_of(device)) != cudaSuccess)
    return NVML_ERROR_INVALID_ARGUMENT;
  *mhz = (unsigned)khz / 1000;
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}
inline nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
inline nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t, nvmlTemperatureThresholds_t, unsigned*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
inline nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned*) { return NVML_ERROR_NOT_SUPPORTED; }
inline nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t, unsigned*) { return NVML_ERROR_NOT_SUPPORTED; }
inline nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t, unsigned long long*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
inline nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t*) { return NVML_ERROR_NOT_SUPPORTED; }
