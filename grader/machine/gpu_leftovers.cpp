#include "grader/machine/gpu_leftovers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "grader/base/clock.hpp"

namespace ridge {

GpuLeftovers::GpuLeftovers(const std::string& uuid) : monitor_(uuid), before_(monitor_.read()) {}

std::string GpuLeftovers::find() {
  for (const double deadline = now() + 2;;) {
    std::string left = gpu_leftover(before_, monitor_.read());
    if (left.empty() || now() > deadline) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string gpu_leftover(const GpuState& before, const GpuState& after) {
  constexpr std::uint64_t kOwn = 256 << 20;  // what the judge's own context may have grown by
  if (!before.known || !after.known || after.used_bytes <= before.used_bytes + kOwn) return {};
  return fmt::format("{} MiB of device memory (this job's, or another process's that started beside it)",
                     (after.used_bytes - before.used_bytes) >> 20);
}

}  // namespace ridge
