// The view of Chrome traces: events, overlap, rings, pipelines, on one time axis.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_timeline_view();

}  // namespace ridge::viz
