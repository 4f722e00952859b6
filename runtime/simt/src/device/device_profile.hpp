// The emulated GPU as numbers: the [device] table of runtime/ceilings/profiles/*.toml, where each has its source.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ridge::simt {

struct DeviceProfile {
  std::string id;    // "h200"
  std::string name;  // "NVIDIA H200"
  // Compute capability and limits of one SM and one block.
  double major = 0, minor = 0;
  double sms = 0;
  double clock_hz = 0;  // boost
  double memory_clock_hz = 0;
  double memory_bus_bits = 0;
  double max_threads_per_sm = 0;
  double max_blocks_per_sm = 0;
  double registers_per_sm = 0;
  double register_unit = 0;  // granularity of a warp's registers
  double l1_bytes = 0;       // an SM's, shared memory included
  double shared_per_sm = 0;  // bytes, as all down to global_bytes
  double shared_per_block = 0;
  double shared_per_block_optin = 0;
  double shared_reserved_per_block = 0;
  double shared_unit = 0;
  double l2_bytes = 0;
  double global_bytes = 0;
  // Bandwidths in B/s.
  double dram_bandwidth = 0;   // as in the data sheet
  double dram_efficiency = 0;  // part of it that a streaming kernel reaches
  double l2_bandwidth = 0;
  double l2_bulk_bandwidth = 0;  // of bulk copies (TMA); 0: as others
  double pcie_pinned = 0;
  double pcie_pageable = 0;
  double managed_migration = 0;
  double peer_bandwidth = 0;  // between two devices; 0: not given
  // Rates of one SM and cycle.
  double warp_instructions = 0;
  double l1_wavefronts = 0;
  double l1_sectors = 0;
  double fp32_flops = 0;  // a fused multiply-add is two
  double fp64_flops = 0;
  double special_operations = 0;
  double matrix_flops = 0;  // dense, 16-bit inputs
  // Rates and times of the whole GPU.
  double l2_partial_writes = 0;    // sectors a second that are written only in part
  double block_starts = 0;         // blocks a second
  double atomic_seconds = 0;       // time of one step of an atomic (see requests.cpp)
  double atomic_line_seconds = 0;  // time of one step of an atomic at one 128-byte line
  // Latencies in seconds.
  double l1_latency = 0;    // a load that hits in L1
  double l2_latency = 0;    // added to it by a miss in L1
  double l2_spread = 0;     // a request for n lines waits for the last: ln(n) times this longer
  double dram_latency = 0;  // added to it by a miss in L2
  double barrier_latency = 0;
  double instruction_latency = 0;  // from an instruction of a warp to one that depends on it
  double kernel_latency = 0;       // from the start to the end of an empty kernel
  double graph_node_latency = 0;   // the same for a kernel in a graph
  double copy_latency = 0;         // a copy engine's, added to each copy
  double launch_call = 0;          // the host's time for one launch
  double copy_call = 0;
  double event_call = 0;
  double graph_call = 0;  // cudaGraphLaunch
  double sync_call = 0;   // from the end of the work to the host's return
};

// Reads "key = value" lines of the table [device]; comments and other tables are skipped. False with `error` filled
// where a key is unknown, a value is no number, or a key is missing.
bool parse_device_profile(std::string_view toml, DeviceProfile& profile, std::string& error);

// The text of runtime/ceilings/profiles/<id>.toml as it was when the emulator was built; empty where there is none.
std::string_view built_in_profile(std::string_view id);

// The profile that RIDGE_DEVICE names (an id, or a path that ends in .toml), else h200. Ends the program where that
// cannot be read.
const DeviceProfile& device_profile();

}  // namespace ridge::simt
