// The emulator's interface for the programs around it (the worker, tests): recording, faults, foreign buffers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/count/warp_log.hpp"
#include "src/device/fault.hpp"
#include "src/launch/launch_record.hpp"
#include "src/sanitize/findings.hpp"
#include "src/sanitize/sanitizer.hpp"
#include "src/stream/device_log.hpp"

struct CUstream_st;

namespace ridge::simt {

// The records since the last call, in launch order.
std::vector<LaunchRecord> take_launches();

// Enclose a call of the judge, whose work is done when `stream` is. Operations of other streams that touch mapped
// buffers must wait for `stream` first, and `stream` for them at the end; else they race with the caller. For traces
// only.
void call_begins(CUstream_st* stream);
void call_ends(CUstream_st* stream);

// Whether kernels may launch kernels from now on: yes, but for a judge. Where they may not, RIDGE_DIVERGENT_BARRIERS
// and RIDGE_FILL change nothing either.
void allow_child_launches(bool allowed);

// Handles that the program has made and not destroyed.
struct LiveHandles {
  std::size_t streams = 0, events = 0, graphs = 0;  // graphs: executable ones too
  std::size_t page_locked = 0;                      // buffers of cudaMallocHost
};
LiveHandles live_handles();

// The place of a kernel's launch, for a judge, who looks up the lines; empty where it is unknown.
std::string launch_in_words(const Callers& callers);

// The first refused call of CUDA since the last cudaGetLastError, with its error, reason and place; empty where none
// was.
std::string refused_in_words(int& error);

// Lane, warp and block order of later launches: 0 ascending, otherwise drawn from the seed (1: blocks ascend).
// RIDGE_LANE_ORDER sets it too.
void set_order(std::uint64_t seed);

// Maps a file descriptor's first `bytes` as device memory, as memory of the host that the device knows, as the host's
// alone, or as memory that copies know and kernels may not touch; nullptr where that fails.
enum class BufferPlace : std::uint32_t { device, pinned, pageable, kept };
void* map_buffer(int fd, std::size_t bytes, bool writable, BufferPlace place = BufferPlace::device);

}  // namespace ridge::simt
