// The measured ceilings of this machine's GPU, which results are compared with.
#pragma once
#include <functional>
#include <string>

#include "ceilings/calibration.hpp"

namespace ridge {

// The stored ceilings of this machine's GPU. Where there are none and `measure` is set, they are measured and stored.
Calibration calibration_for(bool measure, const std::function<void(const std::string&)>& progress);

}  // namespace ridge
