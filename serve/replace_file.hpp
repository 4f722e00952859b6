// Replaces a file by a new text, unless somebody else has changed it in the meantime.
#pragma once
#include <functional>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::serve {

enum class Replaced { done, changed, failed };  // failed: errno says why, and the old file is whole

// Writes `text` beside the file and syncs it. Only then `same`, which hears the file's text, decides whether the file
// may go; where the file system can exchange two files (NFS cannot), it is asked again with what the exchange has
// brought out. A file that is not there is made; where one has appeared, nothing is replaced. The file keeps its mode.
Replaced replace_file(const fs::path& file, const std::string& text,
                      const std::function<bool(const std::string& now)>& same);

// Called at the moment between the last look at the file and its replacement. For tests.
extern std::function<void()> before_replacing;

}  // namespace ridge::serve
