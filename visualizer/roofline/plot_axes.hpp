// The plot's rectangle and its two logarithmic axes with grid, ticks and titles.
#pragma once
#include <imgui.h>

#include <string>

#include "kit/view.hpp"
#include "roofline/roofline_model.hpp"

namespace ridge::viz {

struct Plot {
  ImVec2 from, to;  // pixels
  LogAxis x, y;
  ImVec2 at(double intensity, double rate) const { return {x.project(intensity), y.project(rate)}; }
  ImVec2 at(const Spot& spot) const { return at(spot.intensity, spot.rate); }
};

// Leaves room for titles and tick labels inside `from`..`to`.
Plot make_plot(const Theme& theme, ImVec2 from, ImVec2 to, const Extent& extent);

void draw_grid(Frame& frame, const Plot& plot);
// A `unit` of "element" gives "T element/s", with a prefix for the range. `remark` follows the y title.
void draw_axis_labels(Frame& frame, const Plot& plot, const std::string& unit, const std::string& remark);

}  // namespace ridge::viz
