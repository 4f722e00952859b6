// The roofs: the ground under them, their lines, a label along each line, and the ridge point.
#pragma once
#include <imgui.h>

#include <vector>

#include "kit/view.hpp"
#include "roofline/label_layout.hpp"
#include "roofline/plot_axes.hpp"
#include "roofline/result_file.hpp"
#include "roofline/roofline_model.hpp"

namespace ridge::viz {

// Paper where a rate is attainable, a shade darker beyond.
void draw_ground(Frame& frame, const Plot& plot, const Roofs& roofs);
// "memory bound" and "compute bound" on the two sides of the ridge point. Adds what it drew to `drawn`.
void draw_regions(Frame& frame, const Plot& plot, const Roofs& roofs, Obstacles& drawn);
// Labels keep off `points`. Adds lines and labels to `drawn`.
void draw_roofs(Frame& frame, const Plot& plot, const Roofs& roofs, const std::vector<Ceiling>& ceilings,
                const std::vector<Box>& points, Obstacles& drawn);

}  // namespace ridge::viz
