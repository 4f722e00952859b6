// Stands in for libnvidia-ml.so.1: three GPUs, each with 18 NVLinks to NVSwitches, as the NVML API Reference Guide declares
// the calls. Of GPU 2 one link is down.
#include <cstdint>
#include <cstdio>
#include <cstring>

#define API extern "C" __attribute__((visibility("default")))

namespace {

constexpr unsigned kGpus = 3, kLinks = 18;
constexpr int kInvalidArgument = 2;

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
struct FieldValue {
  unsigned id, scope;
  long long timestamp, latency;
  unsigned type, result;
  std::uint64_t value;
};

std::uint64_t index_of(void* device) { return reinterpret_cast<std::uint64_t>(device) - 1; }

}  // namespace

API int nvmlInit_v2() { return 0; }
API int nvmlShutdown() { return 0; }
API int nvmlDeviceGetCount_v2(unsigned* n) { return *n = kGpus, 0; }
API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
  return *device = reinterpret_cast<void*>(i + 1ul), 0;
}
API int nvmlDeviceGetName(void*, char* name, unsigned size) { return std::snprintf(name, size, "Fake GPU"), 0; }
API int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "00000000:1%c:00.0", static_cast<char>('A' + index_of(device)));
  return 0;
}
API int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  if (link >= kLinks) return kInvalidArgument;
  *active = index_of(device) == 2 && link == 3 ? 0 : 1;
  return 0;
}
API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, PciInfo* info) {
  std::strcpy(info->address, "00000000:05:00.0");
  return 0;
}
API int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* type) { return *type = 2, 0; }
API int nvmlDeviceGetFieldValues(void*, int, FieldValue* v) {
  v->result = v->id == 164 ? 0 : 3;
  v->value = 26562;
  return 0;
}
API int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) { return *level = 40, 0; }
API int nvmlDeviceGetP2PStatus(void*, void*, int, int* status) { return *status = 0, 0; }
