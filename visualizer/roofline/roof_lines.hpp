// Draws the roofs: the area below them, their lines, a label along each line, and the ridge point.
#pragma once
#include <imgui.h>

#include <vector>

#include "kit/view.hpp"
#include "roofline/label_layout.hpp"
#include "roofline/plot_axes.hpp"
#include "roofline/result_file.hpp"
#include "roofline/roofline_model.hpp"

namespace ridge::viz {

// Fills the area of attainable rates with paper and the rest a shade darker.
void draw_ground(Frame& frame, const Plot& plot, const Roofs& roofs);
// Writes "memory bound" and "compute bound" on the two sides of the ridge point, away from `points`, and adds the texts
// to `drawn`.
void draw_regions(Frame& frame, const Plot& plot, const Roofs& roofs, const std::vector<Box>& points, Obstacles& drawn);
// Draws the lines and their labels away from `points`, and adds both to `drawn`.
void draw_roofs(Frame& frame, const Plot& plot, const Roofs& roofs, const std::vector<Ceiling>& ceilings,
                const std::vector<Box>& points, Obstacles& drawn);

}  // namespace ridge::viz
