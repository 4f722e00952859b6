// What the checks of lab 19 share: draws from a seed, and times of the emulated device.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ceilings/profile.hpp"
#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/draw.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"

namespace ridge::lab::topology {

std::unique_ptr<TaskCheck> trees();
std::unique_ptr<TaskCheck> all_to_all();
std::unique_ptr<TaskCheck> schedule();
std::unique_ptr<TaskCheck> share();

// A group of messages, of which the largest has so many bytes, over the links of
// collectives/topologies/infiniband.toml.
inline double exchange_seconds(double bytes, bool between_nodes) {
  return default_profile().device.at("kernel_latency") + (between_nodes ? 10e-6 + bytes / 48e9 : 5e-6 + bytes / 365e9);
}
// A kernel that moves so many bytes.
inline double kernel_seconds(double bytes) {
  const auto& d = default_profile().device;
  return d.at("kernel_latency") + bytes / (d.at("dram_bandwidth") * d.at("dram_efficiency"));
}

}  // namespace ridge::lab::topology
