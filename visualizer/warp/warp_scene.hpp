// What the warp view shows of a kernel: its lines, the accesses of each, and the request or run that is looked at.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "kit/view.hpp"
#include "warp/warp_file.hpp"

namespace ridge::viz {

// An access of a line: one instruction and operation; or, where `block` is not -1, how the lanes go at this line.
struct WarpAccess {
  std::uint64_t pc = 0;
  WarpOp op = WarpOp::global_load;
  int block = -1;                     // index in WarpKernel::blocks
  std::vector<std::size_t> requests;  // indices, by time; of a block: of its samples
  std::string label;                  // "load in"
};

struct WarpLineScene {
  int line = 0;
  std::map<WarpOp, WarpTotals> totals;
  std::uint64_t runs = 0, lanes = 0, partial = 0;
  std::vector<WarpAccess> accesses;
  // What costs most beyond what would do; nullptr: the line reads and writes nothing.
  const std::pair<const WarpOp, WarpTotals>* worst() const;
  double waste() const;  // of that. 1: as it should be; 8: eight times the work
};

struct WarpScene {
  const WarpKernel* kernel = nullptr;
  std::string file;  // most accesses are in
  const std::vector<std::string>* source = nullptr;
  std::map<int, WarpLineScene> lines;
};
WarpScene warp_scene(const WarpFile& file, std::size_t kernel);

// Pictures of what is looked at; each logs the lanes, sectors, banks that it draws.
void draw_global_request(Frame& frame, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r);
void draw_shared_request(Frame& frame, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r);
struct LaneRow {
  int line = 0;
  std::string text;
  std::uint32_t lanes = 0;
  bool chosen = false;
};
void draw_lane_rows(Frame& frame, ImVec2 from, ImVec2 to, const std::vector<LaneRow>& rows, std::uint32_t all);

// The source with counts. Returns the line that was clicked, or 0. `first`: the line at the top, changed by the wheel.
int draw_warp_source(Frame& frame, ImVec2 from, ImVec2 to, const WarpScene& scene, int chosen, float& first,
                     bool follow);

// Sectors or wavefronts: taken, and those that would do.
struct WarpCost {
  std::uint64_t took = 0, ideal = 0;
  double ratio() const { return ideal == 0 ? 1.0 : static_cast<double>(took) / static_cast<double>(ideal); }
};
WarpCost cost_of(WarpOp op, const WarpTotals& t);

ImU32 heat_colour(const Theme& theme, double waste);

}  // namespace ridge::viz
