#include "grader/machine/topology/nvml_topology.hpp"

#include <algorithm>
#include <cctype>

#include "grader/sandbox/dynamic_library.hpp"

namespace ridge {

namespace {

// As the NVML API Reference Guide declares them; the header is not in every toolkit.
using NvmlDevice = void*;
struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
struct FieldValue {
  unsigned id, scope;
  long long time, latency;
  int type, result;
  union {
    double real;
    unsigned number;
    unsigned long long wide;
  } value;
};
static_assert(sizeof(PciInfo) == 68 && sizeof(FieldValue) == 40);

constexpr int kDone = 0;
constexpr unsigned kMostLinks = 36;         // 18 in 2026; what a GPU does not have is an error
constexpr unsigned kLinkSpeed = 164;        // NVML_FI_DEV_NVLINK_GET_SPEED, MB/s
constexpr unsigned kCommonSpeed = 90;       // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
constexpr int kReadCap = 0, kWriteCap = 1;  // NVML_P2P_CAPS_INDEX_*
constexpr int kEndGpu = 0, kEndSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_*

struct Nvml {
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*pci)(NvmlDevice, PciInfo*) = nullptr;
  int (*link_state)(NvmlDevice, unsigned, int*) = nullptr;
  int (*link_pci)(NvmlDevice, unsigned, PciInfo*) = nullptr;
  int (*link_end)(NvmlDevice, unsigned, int*) = nullptr;
  int (*fields)(NvmlDevice, int, FieldValue*) = nullptr;
  int (*ancestor)(NvmlDevice, NvmlDevice, int*) = nullptr;
  int (*peer)(NvmlDevice, NvmlDevice, int, int*) = nullptr;

  bool find(const DynamicLibrary& lib) {
    lib.get(name, "nvmlDeviceGetName");
    lib.get(link_state, "nvmlDeviceGetNvLinkState");
    lib.get(link_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    lib.get(link_end, "nvmlDeviceGetNvLinkRemoteDeviceType");
    lib.get(fields, "nvmlDeviceGetFieldValues");
    lib.get(ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    lib.get(peer, "nvmlDeviceGetP2PStatus");
    return lib.get(shutdown, "nvmlShutdown") && lib.get(count, "nvmlDeviceGetCount_v2") &&
           lib.get(by_index, "nvmlDeviceGetHandleByIndex_v2") && lib.get(pci, "nvmlDeviceGetPciInfo_v3");
  }

  double link_speed(NvmlDevice d, unsigned link) const {
    for (unsigned id : {kLinkSpeed, kCommonSpeed}) {
      FieldValue v{};
      v.id = id;
      v.scope = link;
      if (fields != nullptr && fields(d, 1, &v) == kDone && v.result == kDone && v.value.number > 0)
        return v.value.number / 1000.0;
    }
    return 0;
  }

  std::vector<NvLink> links(NvmlDevice d) const {
    std::vector<NvLink> all;
    for (unsigned i = 0; link_state != nullptr && i < kMostLinks; ++i) {
      NvLink link;
      int active = 0;
      if (link_state(d, i, &active) != kDone) continue;  // this GPU has no such link
      link.active = active != 0;
      PciInfo other{};
      int end = -1;
      if (link.active && link_pci != nullptr && link_pci(d, i, &other) == kDone)
        link.address = pci_address(other.address);
      if (link.active && link_end != nullptr && link_end(d, i, &end) == kDone)
        link.end = end == kEndGpu ? NvLink::End::gpu : end == kEndSwitch ? NvLink::End::nvswitch : NvLink::End::unknown;
      if (link.active) link.gb_per_s = link_speed(d, i);
      all.push_back(link);
    }
    return all;
  }
};

}  // namespace

NvmlView read_nvml_view() {
  NvmlView view;
  DynamicLibrary lib("libnvidia-ml.so.1");
  if (!lib) {
    view.problem = "no NVIDIA driver (libnvidia-ml.so.1 was not found)";
    return view;
  }
  Nvml nvml;
  int (*init)() = nullptr;
  if (!nvml.find(lib) || !lib.get(init, "nvmlInit_v2")) {
    view.problem = "the NVIDIA driver is too old: its library NVML lacks functions";
    return view;
  }
  if (init() != kDone) {
    view.problem = "the NVIDIA driver does not answer (nvidia-smi may say why)";
    return view;
  }
  unsigned count = 0;
  nvml.count(&count);
  std::vector<NvmlDevice> devices;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice d = nullptr;
    PciInfo pci{};
    char name[96] = {};
    if (nvml.by_index(i, &d) != kDone || nvml.pci(d, &pci) != kDone) continue;
    if (nvml.name != nullptr) nvml.name(d, name, sizeof name);
    devices.push_back(d);
    view.gpus.push_back({pci_address(pci.address), name, nvml.links(d)});
  }
  const std::size_t n = devices.size();
  view.level = view.peer = std::vector(n, std::vector<int>(n, -1));
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      int level = 0, reads = 0, writes = 0;
      if (nvml.ancestor != nullptr && nvml.ancestor(devices[a], devices[b], &level) == kDone) view.level[a][b] = level;
      if (nvml.peer != nullptr && nvml.peer(devices[a], devices[b], kReadCap, &reads) == kDone &&
          nvml.peer(devices[a], devices[b], kWriteCap, &writes) == kDone)
        view.peer[a][b] = std::max(reads, writes);
    }
  nvml.shutdown();
  if (n == 0) view.problem = "the NVIDIA driver shows no GPU";
  return view;
}

int nvlinks_between(const NvmlGpu& a, const NvmlGpu& b) {
  auto to_switch = [](const NvmlGpu& g) {
    return std::count_if(g.links.begin(), g.links.end(),
                         [](const NvLink& l) { return l.active && l.end == NvLink::End::nvswitch; });
  };
  auto direct = std::count_if(a.links.begin(), a.links.end(),
                              [&](const NvLink& l) { return l.active && l.address == b.address; });
  return static_cast<int>(direct + std::min(to_switch(a), to_switch(b)));
}

std::string word_of_level(int level) {
  switch (level) {
    case 0:  // two GPUs of one board share its switch
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return "";
  }
}

std::string peer_problem(int status) {
  switch (status) {
    case -1:
    case 0:
      return "";
    case 1:
      return "the chipset does not support it";
    case 2:
      return "the GPUs do not support it";
    case 3:
      return "the way between them, over two CPUs' bridges, does not support it";
    case 4:
      return "it is switched off in the driver's settings";
    default:
      return "the driver does not support it";
  }
}

std::string pci_address(const std::string& text) {
  std::string address;
  for (char c : text) address += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto colon = address.find(':');
  if (colon != std::string::npos && colon > 4) address.erase(0, colon - 4);
  return address;
}

}  // namespace ridge
