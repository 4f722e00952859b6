// NVML's functions (include/nvml.h), by the runtime API's.
#include "nvml.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

std::atomic<int> users{0};  // nvmlInit without nvmlShutdown

// f(index), for a device between nvmlInit and nvmlShutdown. `out`: where the answer goes.
template <class F>
nvmlReturn_t on_device(nvmlDevice_t device, const void* out, F f) {
  if (users <= 0) return NVML_ERROR_UNINITIALIZED;
  int count = 0;
  const auto handle = reinterpret_cast<std::uintptr_t>(device);
  if (out == nullptr || cudaGetDeviceCount(&count) != cudaSuccess || handle < 1 ||
      handle > static_cast<std::uintptr_t>(count))
    return NVML_ERROR_INVALID_ARGUMENT;
  return f(static_cast<int>(handle) - 1);
}

nvmlReturn_t without_sensor(nvmlDevice_t device, const void* out) {
  return on_device(device, out, [](int) { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t write(const std::string& text, char* out, unsigned length) {
  if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t version(const char* text, char* out, unsigned length) {
  if (users <= 0) return NVML_ERROR_UNINITIALIZED;
  return out == nullptr ? NVML_ERROR_INVALID_ARGUMENT : write(text, out, length);
}

// As nvidia-smi shows the runtime's cudaDeviceProp::uuid.
std::string uuid_of(int index) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, index) != cudaSuccess) return {};
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof p.uuid.bytes; ++i) {
    char byte[8];
    std::snprintf(byte, sizeof byte, i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                  static_cast<unsigned char>(p.uuid.bytes[i]));
    text += byte;
  }
  return text;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2(void) {
  ++users;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInitWithFlags(unsigned int) { return nvmlInit_v2(); }
nvmlReturn_t nvmlShutdown(void) {
  if (users <= 0) return NVML_ERROR_UNINITIALIZED;
  --users;
  return NVML_SUCCESS;
}
const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "The operation was successful";
    case NVML_ERROR_UNINITIALIZED:
      return "NVML was not initialized: call nvmlInit first";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "A supplied argument is invalid";
    case NVML_ERROR_NOT_SUPPORTED:
      return "The emulated device has no such sensor";
    case NVML_ERROR_NOT_FOUND:
      return "No such device";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "The buffer is too small";
    default:
      return "An error occurred";
  }
}
// Programs look for numbers with points between.
nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned int length) { return version("580.0", text, length); }
nvmlReturn_t nvmlSystemGetNVMLVersion(char* text, unsigned int length) { return version("13.580.0", text, length); }
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* number) {
  return cudaDriverGetVersion(number) == cudaSuccess ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  int n = 0;
  if (users <= 0) return NVML_ERROR_UNINITIALIZED;
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaGetDeviceCount(&n) != cudaSuccess) return NVML_ERROR_UNKNOWN;
  *count = static_cast<unsigned>(n);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  unsigned count = 0;
  if (const nvmlReturn_t r = nvmlDeviceGetCount_v2(&count); r != NVML_SUCCESS) return r;
  if (device == nullptr || index >= count) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(std::uintptr_t{index} + 1);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) {
  int index = 0;
  if (users <= 0) return NVML_ERROR_UNINITIALIZED;
  if (id == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaDeviceGetByPCIBusId(&index, id) != cudaSuccess) return NVML_ERROR_NOT_FOUND;
  return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(index), device);
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  unsigned count = 0;
  if (const nvmlReturn_t r = nvmlDeviceGetCount_v2(&count); r != NVML_SUCCESS) return r;
  if (uuid == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < count; ++i)
    if (uuid_of(static_cast<int>(i)) == uuid) return nvmlDeviceGetHandleByIndex_v2(i, device);
  return NVML_ERROR_NOT_FOUND;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return on_device(device, name, [&](int index) {
    cudaDeviceProp p;
    return cudaGetDeviceProperties(&p, index) == cudaSuccess ? write(p.name, name, length) : NVML_ERROR_UNKNOWN;
  });
}
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* out) {
  return on_device(device, out, [&](int index) {
    *out = static_cast<unsigned>(index);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor) {
  return nvmlDeviceGetIndex(device, minor);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return on_device(device, uuid, [&](int index) { return write(uuid_of(index), uuid, length); });
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return on_device(device, pci, [&](int index) {
    *pci = {};
    pci->bus = static_cast<unsigned>(index);  // as cudaDeviceGetPCIBusId has it
    if (cudaDeviceGetPCIBusId(pci->busIdLegacy, sizeof pci->busIdLegacy, index) != cudaSuccess)
      return NVML_ERROR_UNKNOWN;
    std::snprintf(pci->busId, sizeof pci->busId, "0000%s", pci->busIdLegacy);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return on_device(device, major == nullptr ? nullptr : minor, [&](int index) {
    const bool good = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, index) == cudaSuccess &&
                      cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, index) == cudaSuccess;
    return good ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
  });
}
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return on_device(device, memory, [&](int index) {
    int before = 0;
    std::size_t free = 0, total = 0;
    cudaGetDevice(&before);
    const bool good = cudaSetDevice(index) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess;
    cudaSetDevice(before);
    *memory = {total, free, total - free};
    return good ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
  });
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* mhz) {
  return on_device(device, mhz, [&](int index) {
    int khz = 0;
    const cudaDeviceAttr which = type == NVML_CLOCK_MEM ? cudaDevAttrMemoryClockRate : cudaDevAttrClockRate;
    if (cudaDeviceGetAttribute(&khz, which, index) != cudaSuccess) return NVML_ERROR_UNKNOWN;
    *mhz = static_cast<unsigned>(khz) / 1000;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, nvmlTemperatureSensors_t, unsigned int* out) {
  return without_sensor(d, out);
}
nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t d, nvmlTemperatureThresholds_t, unsigned int* out) {
  return without_sensor(d, out);
}
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t d, unsigned int* out) { return without_sensor(d, out); }
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned int* out) { return without_sensor(d, out); }
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t d, unsigned int* out) { return without_sensor(d, out); }
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned int* out) { return without_sensor(d, out); }
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long* out) {
  return without_sensor(d, out);
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t* out) { return without_sensor(d, out); }
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t d, unsigned long long* out) {
  return without_sensor(d, out);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d, unsigned long long* out) {
  return without_sensor(d, out);
}
}
