// Draws a scene under its roofs and handles the mouse: a click isolates a task, a drag pans, Ctrl and the wheel zoom.
#pragma once
#include "kit/view.hpp"
#include "roofline/plot_axes.hpp"
#include "roofline/scene.hpp"

namespace ridge::viz {

// Draws into from..to of the frame.
void draw_roofline(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to);

}  // namespace ridge::viz
