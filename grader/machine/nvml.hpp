// The state of a GPU beside a measurement, through NVML (loaded at run time; absent on machines without a driver).
// Nothing is ever set.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ridge {

struct GpuState {
  bool known = false;
  double sm_mhz = 0, memory_mhz = 0, temperature_c = 0, power_w = 0;
  std::uint64_t throttle = 0;            // NVML's clocks event reasons
  std::vector<unsigned> busy_strangers;  // processes, not of this judge, that used the cores since the last reading
  std::uint64_t used_bytes = 0;          // of device memory
};

class GpuMonitor {
 public:
  explicit GpuMonitor(const std::string& uuid);  // "GPU-..."; where that fails, every reading is unknown
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;
  GpuState read();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// The reasons that disturb a measurement, by name. Idle, the application's own clocks and the power cap that a full
// load meets on every turn alike (`sw power cap`) are none.
std::vector<std::string> throttle_names(std::uint64_t reasons);

// Why a turn that ran between these two readings should be taken again, or an empty text. `usual_mhz`: the median SM
// clock of the turns so far, 0 for none.
std::string disturbance(const GpuState& before, const GpuState& after, double usual_mhz);

}  // namespace ridge
