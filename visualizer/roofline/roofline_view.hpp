// Draws one result as a roofline.
#pragma once
#include <imgui.h>

#include <vector>

#include "layout_log.hpp"
#include "roofline/result_file.hpp"
#include "roofline/roofline_model.hpp"
#include "theme.hpp"
#include "view.hpp"

namespace ridge::viz {

// What is drawn of one result: made once, its Roofs point into `result`.
struct Scene {
  const Result& result;
  Roofs roofs;
  std::vector<TaskPoint> points;
  explicit Scene(const Result& r);
  bool mixed_units() const;
};

std::unique_ptr<View> make_roofline_view();

// Inside from..to of the current window. Shows a tooltip at the point under the mouse.
void draw_roofline(const Scene& scene, const Theme& theme, ImVec2 from, ImVec2 to, LayoutLog& log);

}  // namespace ridge::viz
