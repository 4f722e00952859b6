#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "block/block.hpp"
#include "device/program.hpp"

namespace ridge::simt {

struct LaunchConfig {
  const char* kernel;
  Index3 grid, block;
  std::size_t dynamic_shared;
  bool cooperative = false;  // all blocks resident at once: grid.sync() works
  int device = 0;
  std::uint64_t reachable = ~std::uint64_t{0};  // devices whose memory it may access: bits
  Index3 cluster = {1, 1, 1};                   // blocks of a cluster
};

struct LaunchOutcome {
  bool ok = true;                        // false after a fault: last_fault() has it
  KernelResources resources;             // zeros where nothing was counted
  KernelCounters counters;               // zeros where nothing was counted
  std::shared_ptr<Footprint> footprint;  // null where footprints are not enabled
  struct Child {
    LaunchConfig config;
    KernelResources resources;
    KernelCounters counters;
  };
  std::vector<Child> children;  // grids that it launched, and theirs
};

// Whether kernels may launch kernels from now on: yes, but for a judge.
void allow_child_launches(bool allowed);

// Runs a whole grid, and those that it launches, to their end on the pool's threads. Blocks until done.
LaunchOutcome run_launch(const LaunchConfig& config, void (*run)(void*), void* closure, std::size_t closure_bytes);

// Turns counting on (at the first event with timing, RIDGE_COUNTERS, RIDGE_TRACE, or by the judge).
void start_counting();

// The seed of RIDGE_LANE_ORDER, for the lanes of a warp and for queued operations; 0 is `forward`.
std::uint64_t order_from_environment();

}  // namespace ridge::simt
