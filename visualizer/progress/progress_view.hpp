// A folder of results: one student's way to full marks, or everybody's as a leaderboard. Live, it follows the folder.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_progress_view();

}  // namespace ridge::viz
