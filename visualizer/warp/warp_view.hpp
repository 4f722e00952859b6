// The warp view: sectors and banks of a request, active lanes by path, and the source beside them.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_warp_view();

}  // namespace ridge::viz
