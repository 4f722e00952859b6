// The host's word to a running `ridge live`.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::loop {

// Takes the participant with this name off the board that is kept in `board`, or back onto it. Who may read that file
// is the host. Throws a usage error where no board is running, or nobody has the name.
void kick_live(const fs::path& board, const std::string& name, bool back);

}  // namespace ridge::loop
