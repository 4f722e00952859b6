// A folder of results: one student's progress to full marks, or a leaderboard of all students. With --live it follows
// the folder.
#pragma once
#include <memory>

#include "kit/view.hpp"

namespace ridge::viz {

std::unique_ptr<View> make_progress_view();

}  // namespace ridge::viz
