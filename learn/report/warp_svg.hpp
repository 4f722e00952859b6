// Draws one request of a warp from a recording: the lanes, and the sectors or banks that they touch.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::loop {

// `warp` is the text of a ridge.warp/1 file (docs/warp-format.md). Shows the request that costs most beyond its ideal,
// as SVG with a sentence about it; empty where there is none that can be drawn.
std::string warp_svg(const std::string& warp);

// What one line asks of memory: a load or a store of it.
struct LineAccess {
  std::string kernel, op;             // "global_ld"
  std::uint64_t requests = 0;         // of all warps
  std::uint64_t took = 0, ideal = 0;  // sectors of 32 bytes, or wavefronts of shared memory
  std::string svg;                    // its dearest request that was kept; empty where none was
};
// The accesses of `file`:`line`, in the recording's order; none where it has none.
std::vector<LineAccess> line_accesses(const std::string& warp, const std::string& file, std::uint64_t line);

}  // namespace ridge::loop
