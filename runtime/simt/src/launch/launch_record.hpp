// The record of a launch that was counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "count/requests.hpp"
#include "device/program.hpp"

namespace ridge::simt {

struct LaunchRecord {
  std::string kernel;
  unsigned grid[3];
  unsigned block[3];
  std::size_t dynamic_shared;
  KernelResources resources;
  KernelCounters counters;
};

// Turns the counting of accesses on or off for the launches that follow. Off unless RIDGE_COUNTERS is set.
void set_recording(bool on);
// The records of launches that have ended; each is taken once.
std::vector<LaunchRecord> take_finished_launches();
// {"launches": [{"kernel": ..., "grid": ..., "block": ..., "counters": {...}, "lines": [...]}]}; a line's "pc" is the
// offset in the program, for addr2line; `with_lines` adds "file" and "line".
std::string launches_json(const std::vector<LaunchRecord>& launches, bool with_lines = false);
// The records as a table for people.
std::string launches_table(const std::vector<LaunchRecord>& launches);

// Sets the lane, warp and block order of launches, and not the order of queued operations. With seeds above 1 the
// blocks that follow may be held (runtime/simt/README.md), a limited number of times.
void set_lane_order(std::uint64_t seed);

}  // namespace ridge::simt
