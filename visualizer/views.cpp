// The views, in the order of the rail: one line each.
#include "kit/view.hpp"
#include "progress/progress_view.hpp"
#include "roofline/roofline_view.hpp"
#include "timeline/timeline_view.hpp"
#include "warp/warp_view.hpp"

namespace ridge::viz {

std::vector<std::unique_ptr<View>> make_views() {
  std::vector<std::unique_ptr<View>> views;
  views.push_back(make_roofline_view());
  views.push_back(make_timeline_view());
  views.push_back(make_warp_view());
  views.push_back(make_progress_view());
  return views;
}

}  // namespace ridge::viz
