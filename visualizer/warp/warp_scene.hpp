// The warp view's model of a kernel: its lines, their accesses, and the shown request or run.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "kit/view.hpp"
#include "warp/warp_file.hpp"

namespace ridge::viz {

// One memory operation of a line, or, where `block` is not -1, the active lanes of the line's basic block.
struct WarpAccess {
  std::uint64_t pc = 0;
  WarpOp op = WarpOp::global_load;
  int block = -1;                     // index in WarpKernel::blocks
  std::vector<std::size_t> requests;  // indices of requests, or of the block's samples, ordered by time
  std::string label;                  // "load in"
};

struct WarpLineScene {
  int line = 0;
  std::map<WarpOp, WarpTotals> totals;
  std::uint64_t runs = 0, lanes = 0, partial = 0;
  std::vector<WarpAccess> accesses;
  // The operation with the most waste, or nullptr where the line accesses no memory.
  const std::pair<const WarpOp, WarpTotals>* worst() const;
  double waste() const;  // its cost over the ideal: 1 is ideal, 8 is eight times the work
};

struct WarpScene {
  const WarpKernel* kernel = nullptr;
  std::string file;  // the file with the most accesses
  const std::vector<std::string>* source = nullptr;
  std::map<int, WarpLineScene> lines;
};
WarpScene warp_scene(const WarpFile& file, std::size_t kernel);

// Draw the shown request or run, and log the lanes, sectors and banks.
void draw_global_request(Frame& frame, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r);
void draw_shared_request(Frame& frame, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r);
struct LaneRow {
  int line = 0;
  std::string text;
  std::uint32_t lanes = 0;
  bool chosen = false;
};
void draw_lane_rows(Frame& frame, ImVec2 from, ImVec2 to, const std::vector<LaneRow>& rows, std::uint32_t all);

// Draws the source with counts and returns the clicked line, or 0. `first` is the row at the top, from 0, which the
// wheel changes.
int draw_warp_source(Frame& frame, ImVec2 from, ImVec2 to, const WarpScene& scene, int chosen, float& first,
                     bool follow);

// Sectors or wavefronts: the number used and the ideal number.
struct WarpCost {
  std::uint64_t took = 0, ideal = 0;
  double ratio() const { return ideal == 0 ? 1.0 : static_cast<double>(took) / static_cast<double>(ideal); }
};
WarpCost cost_of(WarpOp op, const WarpTotals& t);

ImU32 heat_colour(const Theme& theme, double waste);

}  // namespace ridge::viz
