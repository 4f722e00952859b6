// Writes results as one page that stands alone, without scripts or further files.
#pragma once
#include <string>
#include <vector>

namespace ridge::loop {

// Writes the page to the file `out` and returns the exit code. `paths` are files or folders, one for each student; if
// there are none, the page shows the last results of this machine. `name`: the person's, where there is one person.
int html_report(const std::string& out, const std::vector<std::string>& paths, const std::string& name);

}  // namespace ridge::loop
