// The roofline view of results, steps, calibrations and ncu's tables. It chooses the group, attempt and task.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_roofline_view();

}  // namespace ridge::viz
