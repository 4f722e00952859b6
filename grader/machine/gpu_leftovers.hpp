// Device memory that is still in use after a job, though all its processes have ended.
#pragma once
#include <string>

#include "grader/machine/nvml.hpp"

namespace ridge {

class GpuLeftovers {
 public:
  // Watches the GPU with this UUID from now on. With an empty UUID nothing is ever found.
  explicit GpuLeftovers(const std::string& uuid);
  // Waits up to 2 s for the driver to take everything back. "1234 MiB of device memory", or an empty text.
  std::string find();

 private:
  GpuMonitor monitor_;
  GpuState before_;
};

// The same for two readings.
std::string gpu_leftover(const GpuState& before, const GpuState& after);

}  // namespace ridge
