// NVML beside the runtime API: names, memory, clocks and places of two devices; sensors, which they do not have.
// link: -lnvidia-ml
// devices: 2
#include <nvml.h>

#include <cstring>
#include <string>

#include "check.hpp"

#define DONE(call) expect((call) == NVML_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == NVML_ERROR_##status, #call)

int main() {
  unsigned count = 0, index = 9, mhz = 0, any = 0;
  REFUSED(UNINITIALIZED, nvmlDeviceGetCount(&count));
  REFUSED(UNINITIALIZED, nvmlShutdown());
  DONE(nvmlInit());
  DONE(nvmlDeviceGetCount(&count));
  expect(count == 2, "two devices");
  REFUSED(INVALID_ARGUMENT, nvmlDeviceGetCount(nullptr));
  nvmlDevice_t second = nullptr, again = nullptr;
  REFUSED(INVALID_ARGUMENT, nvmlDeviceGetHandleByIndex(2, &second));
  REFUSED(INVALID_ARGUMENT, nvmlDeviceGetIndex(nullptr, &index));
  DONE(nvmlDeviceGetHandleByIndex(1, &second));
  DONE(nvmlDeviceGetIndex(second, &index));
  expect(index == 1, "the second device");

  cudaDeviceProp properties;
  expect(cudaGetDeviceProperties(&properties, 1) == cudaSuccess, "properties");
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE], uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE], place[32], version[80];
  DONE(nvmlDeviceGetName(second, name, sizeof name));
  expect(std::strcmp(name, properties.name) == 0, "the name");
  REFUSED(INSUFFICIENT_SIZE, nvmlDeviceGetName(second, name, std::strlen(properties.name)));
  int major = 0, minor = 0, driver = 0;
  DONE(nvmlDeviceGetCudaComputeCapability(second, &major, &minor));
  expect(major == properties.major && minor == properties.minor, "the compute capability");

  nvmlPciInfo_t pci;
  DONE(nvmlDeviceGetPciInfo(second, &pci));
  expect(cudaDeviceGetPCIBusId(place, sizeof place, 1) == cudaSuccess && std::strcmp(place, pci.busIdLegacy) == 0 &&
             std::string(pci.busId) == "0000" + std::string(place),
         "the place on the bus");
  DONE(nvmlDeviceGetHandleByPciBusId(pci.busId, &again));
  expect(again == second, "a device by its place");
  DONE(nvmlDeviceGetUUID(second, uuid, sizeof uuid));
  expect(std::strlen(uuid) == 40 && std::strncmp(uuid, "GPU-", 4) == 0 && uuid[12] == '-' && uuid[27] == '-', "a UUID");
  again = nullptr;
  DONE(nvmlDeviceGetHandleByUUID(uuid, &again));
  expect(again == second, "a device by its UUID");
  REFUSED(NOT_FOUND, nvmlDeviceGetHandleByUUID("GPU-0", &again));

  // 3 MB on the second device, none on the first.
  nvmlMemory_t before, after, other;
  nvmlDevice_t first = nullptr;
  DONE(nvmlDeviceGetHandleByIndex(0, &first));
  DONE(nvmlDeviceGetMemoryInfo(second, &before));
  void* p = nullptr;
  expect(cudaSetDevice(1) == cudaSuccess && cudaMalloc(&p, 3 << 20) == cudaSuccess, "memory");
  expect(cudaSetDevice(0) == cudaSuccess, "the first device again");
  DONE(nvmlDeviceGetMemoryInfo(second, &after));
  DONE(nvmlDeviceGetMemoryInfo(first, &other));
  expect(after.used - before.used >= 3 << 20 && after.total == after.used + after.free && other.used == before.used,
         "the second device's memory");
  expect(cudaFree(p) == cudaSuccess, "free");

  DONE(nvmlDeviceGetMaxClockInfo(second, NVML_CLOCK_SM, &mhz));
  expect(mhz > 100, "a clock");
  DONE(nvmlSystemGetDriverVersion(version, sizeof version));
  DONE(nvmlSystemGetCudaDriverVersion(&driver));
  expect(std::strchr(version, '.') != nullptr && driver == CUDART_VERSION, "versions");
  REFUSED(NOT_SUPPORTED, nvmlDeviceGetPowerUsage(second, &any));
  REFUSED(NOT_SUPPORTED, nvmlDeviceGetTemperature(second, NVML_TEMPERATURE_GPU, &any));
  REFUSED(INVALID_ARGUMENT, nvmlDeviceGetTemperature(second, NVML_TEMPERATURE_GPU, nullptr));
  DONE(nvmlShutdown());
  REFUSED(UNINITIALIZED, nvmlDeviceGetPowerUsage(second, &any));
  std::puts("ok");
}
