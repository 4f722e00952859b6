// The roofline view: results, steps, calibrations and ncu's tables; which group, attempt and task is shown.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_roofline_view();

}  // namespace ridge::viz
