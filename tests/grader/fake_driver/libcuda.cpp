// Stands in for libcuda.so.1: three GPUs whose copies take the time of PCI Express 5 and NVLink. FAKE_SLOW="0 2" makes the
// copies from GPU 0 to GPU 2 three times as slow ("h": the host); FAKE_HUNG="0 2" never ends them; FAKE_FAILED fails them.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kGpus = 3;
double pending = 0;         // seconds of copies that nobody has waited for
std::uint64_t current = 0;  // the context in use: 1 for GPU 0

char gpu_of(std::uint64_t address) { return static_cast<char>('0' + (address >> 40) - 1); }

bool named(const char* variable, char from, char to) {
  const char* value = std::getenv(variable);
  return value != nullptr && value == std::string{from, ' ', to};
}

int copy(char from, char to, double bytes_per_s, std::size_t bytes) {
  if (named("FAKE_FAILED", from, to)) return 700;
  if (named("FAKE_SLOW", from, to)) bytes_per_s /= 3;
  pending += named("FAKE_HUNG", from, to) ? 1e3 : static_cast<double>(bytes) / bytes_per_s;
  return 0;
}

}  // namespace

API int cuDeviceGetCount(int* n) {
  const char* given = std::getenv("FAKE_GPUS");
  return *n = given != nullptr ? std::atoi(given) : kGpus, 0;
}
API int cuDeviceGet(int* device, int index) { return *device = index, 0; }
API int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
API int cuDeviceGetName(char* name, int size, int) {
  return std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU"), 0;
}
API int cuDeviceGetPCIBusId(char* text, int size, int device) {
  return std::snprintf(text, static_cast<std::size_t>(size), "0000:1%c:00.0", 'A' + device), 0;
}
API int cuDevicePrimaryCtxRetain(std::uint64_t* context, int device) {
  return *context = static_cast<std::uint64_t>(device) + 1, 0;
}
API int cuCtxSetCurrent(std::uint64_t context) { return current = context, 0; }
// The address says whose memory it is.
API int cuMemAlloc_v2(std::uint64_t* p, std::size_t) { return *p = current << 40, 0; }
API int cuDeviceCanAccessPeer(int* can, int, int) { return *can = 1, 0; }
API int cuMemHostAlloc(void** p, std::size_t, unsigned) { return *p = &pending, 0; }
API int cuStreamSynchronize(void*) {
  const double seconds = pending;
  pending = 0;
  usleep(static_cast<useconds_t>(seconds * 1e6));
  return 0;
}
API int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void*, std::size_t n, void*) {
  return copy('h', gpu_of(to), 55e9, n);
}
API int cuMemcpyDtoHAsync_v2(void*, std::uint64_t from, std::size_t n, void*) {
  return copy(gpu_of(from), 'h', 55e9, n);
}
API int cuMemcpyPeerAsync(std::uint64_t to, void*, std::uint64_t from, void*, std::size_t n, void*) {
  return copy(gpu_of(from), gpu_of(to), 370e9, n);
}
API int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_ILLEGAL_ADDRESS", 0; }

// What the judge's own device loads besides: all succeed and do nothing.
#define NOTHING(name) \
  API int name() { return 0; }
NOTHING(cuInit)
NOTHING(cuStreamCreate)
NOTHING(cuCtxEnablePeerAccess)
NOTHING(cuCtxSynchronize)
NOTHING(cuMemGetInfo_v2)
NOTHING(cuMemCreate)
NOTHING(cuMemRelease)
NOTHING(cuMemAddressReserve)
NOTHING(cuMemAddressFree)
NOTHING(cuMemMap)
NOTHING(cuMemUnmap)
NOTHING(cuMemSetAccess)
NOTHING(cuMemGetAllocationGranularity)
NOTHING(cuMemExportToShareableHandle)
NOTHING(cuMemcpyHtoD_v2)
NOTHING(cuMemcpyDtoH_v2)
NOTHING(cuMemHostRegister_v2)
NOTHING(cuMemHostUnregister)
NOTHING(cuMemsetD32_v2)
NOTHING(cuMemFree_v2)
NOTHING(cuMemcpy2DAsync_v2)
NOTHING(cuModuleLoadData)
NOTHING(cuModuleGetFunction)
NOTHING(cuLaunchKernel)
NOTHING(cuDeviceGetAttribute)
NOTHING(cuDeviceGetUuid_v2)
NOTHING(cuMemFreeHost)
