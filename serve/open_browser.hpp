// Opens the page where there is a browser to open it with.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::serve {

// Starts xdg-open where a display is there and stdout is a terminal; the browser outlives the server. Arguments of a
// program can be read by every user, so that the address stands in `file`, which only its owner reads and which leads
// there. The caller removes the file when the address ends.
void open_browser(const std::string& url, const fs::path& file);

}  // namespace ridge::serve
