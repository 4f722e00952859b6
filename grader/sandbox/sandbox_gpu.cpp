#include "grader/sandbox/sandbox_gpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "grader/base/paths.hpp"

namespace ridge {

namespace {

// Declares the part of the driver's interface that is used here, as cuda.h has it: the Toolkit is not needed.
struct First {
  std::string bus, uuid;
  int architecture = 0;
};

First first_gpu() {
  First f;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return f;
  auto get = [&]<class F>(F*& function, const char* name) { function = reinterpret_cast<F*>(dlsym(driver, name)); };
  int (*init)(unsigned) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*bus_id)(char*, int, int) = nullptr;
  int (*uuid)(unsigned char*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  get(init, "cuInit");
  get(device_get, "cuDeviceGet");
  get(bus_id, "cuDeviceGetPCIBusId");
  get(uuid, "cuDeviceGetUuid_v2");
  get(attribute, "cuDeviceGetAttribute");
  int device = 0;
  if (init == nullptr || device_get == nullptr || init(0) != 0 || device_get(&device, 0) != 0) return f;
  char bus[64] = {};
  if (bus_id != nullptr && bus_id(bus, sizeof bus - 1, device) == 0) f.bus = bus;
  std::transform(f.bus.begin(), f.bus.end(), f.bus.begin(), [](unsigned char c) { return std::tolower(c); });
  int major = 0, minor = 0;
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  if (attribute != nullptr && attribute(&major, kMajor, device) == 0 && attribute(&minor, kMinor, device) == 0)
    f.architecture = major * 10 + minor;
  unsigned char id[16];
  if (uuid != nullptr && uuid(id, device) == 0) {
    for (int i = 0; i < 16; ++i)
      f.uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    f.uuid = "GPU-" + f.uuid;
  }
  return f;
}

bool is_gpu_node(const std::string& name) {
  return name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
         std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

GrantedGpu find_gpu() {
  GrantedGpu g;
  g.nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  if (given != nullptr && std::string(given).find("MIG-") != std::string::npos) {
    // A slice of a GPU: its rights lie in nodes of their own, which the driver checks.
    g.nodes.push_back("/dev/nvidia-caps");
  }
  First first = first_gpu();
  g.architecture = first.architecture;
  std::ifstream file("/proc/driver/nvidia/gpus/" + first.bus + "/information");
  std::stringstream text;
  text << file.rdbuf();
  int minor = first.bus.empty() ? -1 : device_minor(text.str());
  std::string own = fmt::format("/dev/nvidia{}", minor);
  std::error_code ec;
  if (minor >= 0 && fs::exists(own, ec)) {
    g.nodes.push_back(own);
  } else {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/dev", ec))
      if (is_gpu_node(entry.path().filename())) {
        g.nodes.push_back(entry.path());
        ++count;
      }
    g.alone = count <= 1;
  }
  // By name: numbers count the GPUs that can be opened.
  if (given == nullptr || std::string(given).find("MIG-") == std::string::npos) g.visible = first.uuid;
  return g;
}

}  // namespace

std::vector<std::string> all_gpu_nodes() {
  std::vector<std::string> nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/dev", ec))
    if (is_gpu_node(entry.path().filename())) nodes.push_back(entry.path());
  return nodes;
}

int device_minor(const std::string& information) {
  auto at = information.find("Device Minor:");
  if (at == std::string::npos) return -1;
  at = information.find_first_not_of(" \t", at + 13);
  if (at == std::string::npos || std::isdigit(static_cast<unsigned char>(information[at])) == 0) return -1;
  return std::atoi(information.c_str() + at);
}

const GrantedGpu& granted_gpu() {
  static const GrantedGpu g = find_gpu();
  return g;
}

}  // namespace ridge
