#include "grader/machine/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>

namespace ridge {

// As nvml.h declares them (NVML API Reference Guide); the header is not in every toolkit.
namespace nvml {
using NvmlDevice = void*;
struct ProcessSample {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;  // per cent
};
struct Memory {
  unsigned long long total, free, used;
};
}  // namespace nvml

namespace {

using nvml::NvmlDevice;

struct Reason {
  std::uint64_t bit;
  const char* name;
};
constexpr Reason kReasons[] = {
    {0x8, "hardware slowdown"},          {0x10, "sync boost"},  {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"}, {0x80, "power brake"}, {0x100, "display clocks"}};

// Is `pid` this process, or one that it started? Walks /proc up to init.
bool ours(unsigned pid) {
  const auto self = static_cast<unsigned>(getpid());
  for (int depth = 0; pid > 1 && depth < 64; ++depth) {
    if (pid == self) return true;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(stat, line)) return true;  // gone, or of another PID namespace: nothing can be said against it
    auto end = line.rfind(')');                  // the name may hold anything
    char state = 0;
    if (end == std::string::npos || std::sscanf(line.c_str() + end + 1, " %c %u", &state, &pid) != 2) return true;
  }
  return false;
}

}  // namespace

struct GpuMonitor::Library {
  void* lib = nullptr;
  NvmlDevice device = nullptr;
  int (*shutdown)() = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*memory)(NvmlDevice, nvml::Memory*) = nullptr;
  int (*processes)(NvmlDevice, nvml::ProcessSample*, unsigned*, unsigned long long) = nullptr;
  unsigned long long seen_us = 0;

  bool open(const std::string& uuid) {
    lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (lib == nullptr) return false;
    auto get = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(lib, name));
      return f != nullptr;
    };
    int (*init)() = nullptr;
    int (*by_uuid)(const char*, NvmlDevice*) = nullptr;
    if (!get(init, "nvmlInit_v2") || !get(shutdown, "nvmlShutdown") || !get(by_uuid, "nvmlDeviceGetHandleByUUID") ||
        !get(clock, "nvmlDeviceGetClockInfo") || init() != 0)
      return false;
    get(temperature, "nvmlDeviceGetTemperature");
    get(power, "nvmlDeviceGetPowerUsage");
    if (!get(reasons, "nvmlDeviceGetCurrentClocksEventReasons"))
      get(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    get(memory, "nvmlDeviceGetMemoryInfo");
    get(processes, "nvmlDeviceGetProcessUtilization");
    return by_uuid(uuid.c_str(), &device) == 0;
  }
};

GpuMonitor::GpuMonitor(const std::string& uuid) : library_(std::make_unique<Library>()) {
  if (uuid.empty() || !library_->open(uuid)) library_->device = nullptr;
}

GpuMonitor::~GpuMonitor() {
  if (library_->device != nullptr) library_->shutdown();
  if (library_->lib != nullptr) dlclose(library_->lib);
}

GpuState GpuMonitor::read() {
  GpuState s;
  Library& l = *library_;
  if (l.device == nullptr) return s;
  unsigned value = 0;
  s.known = l.clock(l.device, 1, &value) == 0;  // 1: SM
  s.sm_mhz = value;
  if (l.clock(l.device, 2, &value) == 0) s.memory_mhz = value;  // 2: memory
  if (l.temperature != nullptr && l.temperature(l.device, 0, &value) == 0) s.temperature_c = value;
  if (l.power != nullptr && l.power(l.device, &value) == 0) s.power_w = value / 1000.0;
  unsigned long long reasons = 0;
  if (l.reasons != nullptr && l.reasons(l.device, &reasons) == 0) s.throttle = reasons;
  nvml::Memory memory{};
  if (l.memory != nullptr && l.memory(l.device, &memory) == 0) s.used_bytes = memory.used;
  if (l.processes != nullptr) {
    std::array<nvml::ProcessSample, 256> samples{};
    auto count = static_cast<unsigned>(samples.size());
    const bool first = l.seen_us == 0;
    if (l.processes(l.device, samples.data(), &count, l.seen_us) == 0) {
      std::set<unsigned> strangers;
      for (unsigned i = 0; i < count && i < samples.size(); ++i) {
        l.seen_us = std::max(l.seen_us, samples[i].time_us);
        if (!first && samples[i].sm > 0 && !ours(samples[i].pid)) strangers.insert(samples[i].pid);
      }
      s.busy_strangers.assign(strangers.begin(), strangers.end());
    }
  }
  return s;
}

std::vector<std::string> throttle_names(std::uint64_t reasons) {
  std::vector<std::string> names;
  for (const Reason& r : kReasons)
    if ((reasons & r.bit) != 0) names.push_back(r.name);
  return names;
}

std::string disturbance(const GpuState& before, const GpuState& after, double usual_mhz) {
  if (!before.known || !after.known) return {};
  if (auto names = throttle_names(before.throttle | after.throttle); !names.empty())
    return fmt::format("the GPU slowed itself down ({})", fmt::join(names, ", "));
  if (!after.busy_strangers.empty())
    return fmt::format("{} other process(es) used the GPU", after.busy_strangers.size());
  if (usual_mhz > 0 && after.sm_mhz < 0.97 * usual_mhz)
    return fmt::format("the SM clock fell to {:.0f} MHz from {:.0f}", after.sm_mhz, usual_mhz);
  return {};
}

}  // namespace ridge
