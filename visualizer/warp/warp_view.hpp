// Requests of a warp: lanes to sectors, lanes to banks, active lanes by path, the source beside it.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_warp_view();

}  // namespace ridge::viz
