// One page of results that stands alone: no script, no file beside it.
#pragma once
#include <string>
#include <vector>

namespace ridge::loop {

// Writes the page to the file `out` and returns the exit code. `paths`: files or folders, one for each student; none:
// this machine's own last results.
int html_report(const std::string& out, const std::vector<std::string>& paths);

}  // namespace ridge::loop
