// The attempts at a lab on the page: a list, the text as it was judged, what changed between two, and their way under
// the roofline.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge::serve {

// The last attempts, newest first: {"id", "time", "title", "points", "max", "built", "note"}.
nlohmann::json attempts_json(const Lab& lab);

// What differs between two attempts by file: {"name", "known", "added", "removed", "lines": [{"kind", "text", "before",
// "after"}]}, with a few lines around each change and a line of kind "@" before it. Without a second attempt: the files
// as they are now. Null: there is no such attempt.
nlohmann::json diff_json(const Lab& lab, const std::string& from, const std::string& to);

// The file as the last attempt judged it; none where nothing was judged, or its text is no longer kept.
std::optional<std::string> judged_text(const Lab& lab, const std::string& file);

// The task's attempts as SVG; empty where none has a place under the roofline.
std::string path_svg(const Lab& lab, const std::string& task);

// Files that the visualizer opens for a task's last result: {"name", "file"}, the file as api/viz takes it.
nlohmann::json views_json(const Lab& lab, const std::string& attempt, const TaskResult& task);

}  // namespace ridge::serve
