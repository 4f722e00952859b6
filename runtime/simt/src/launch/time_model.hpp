// Times on the emulated GPU: from counts and a device profile to seconds of virtual time.
#pragma once
#include <array>

#include "count/requests.hpp"
#include "device/device_profile.hpp"
#include "launch/launch.hpp"

namespace ridge::simt {

struct Occupancy {
  unsigned blocks_per_sm = 0;
  unsigned warps_per_sm = 0;
  double share = 0;             // warps_per_sm / most warps of an SM
  const char* limited_by = "";  // "warps", "blocks", "shared memory" or "registers"; "nothing fits" where no block does
};

// `shared`: static and dynamic bytes of one block. `registers`: of one thread, 0 where unknown.
Occupancy theoretical_occupancy(const DeviceProfile& profile, unsigned threads_per_block, std::size_t shared,
                                unsigned registers = 0);

// One limit of a kernel's speed: it cannot end before `seconds` after its start.
struct Roof {
  const char* name;
  double seconds;
};
constexpr std::size_t kRoofs = 13;
std::array<Roof, kRoofs> kernel_roofs(const DeviceProfile& profile, const LaunchConfig& config,
                                      const KernelResources& resources, const KernelCounters& counters);

// All roofs together: the highest, and more where others are near. The kernel's fixed latency is not in it: it differs
// inside and outside of graphs.
double kernel_seconds(const DeviceProfile& profile, const LaunchConfig& config, const KernelResources& resources,
                      const KernelCounters& counters);

// The parts of the link to the host that a kernel of `seconds` takes, each way: its accesses of page-locked memory.
void set_link_shares(const DeviceProfile& profile, const KernelCounters& counters, double seconds, double& in,
                     double& out);

// The part of the GPU that the grid can fill, in (0, 1].
double gpu_share(const DeviceProfile& profile, const LaunchConfig& config, const KernelResources& resources);

enum class CopyPath { host_to_device, device_to_host, on_device, on_host, between_devices };
double copy_seconds(const DeviceProfile& profile, CopyPath path, std::size_t bytes, bool pageable);
double fill_seconds(const DeviceProfile& profile, std::size_t bytes);

}  // namespace ridge::simt
