// What the numbers say, beside the plot: the attempt, its score, one card per task.
#pragma once
#include <imgui.h>

#include "roofline/roofline_view.hpp"

namespace ridge::viz {

// Which of several files is shown.
struct Choice {
  std::size_t shown = 0;
  std::size_t count = 1;
};

// In the current window, which may scroll. Changes `choice` when its buttons are pressed.
void draw_side_panel(const Scene& scene, const Theme& theme, Choice& choice, LayoutLog& log);

}  // namespace ridge::viz
