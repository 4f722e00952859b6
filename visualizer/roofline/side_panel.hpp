// Explains the numbers beside the plot: the attempt, its score, a card per task, or two attempts against each other.
#pragma once
#include "kit/view.hpp"
#include "roofline/scene.hpp"

namespace ridge::viz {

// Inside from..to, moved up by `scroll`; returns the height of all. Changes `chosen` where it is clicked.
float draw_side_panel(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to, float scroll);

}  // namespace ridge::viz
