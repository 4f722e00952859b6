// A task's code as HTML, with what was counted and found beside its lines.
#pragma once
#include <string>
#include <vector>

#include "grader/result/result.hpp"
#include "learn/findings/findings.hpp"

namespace ridge::loop {

// The lines of `text` between `// TASK(task)` and `// END(task)`, all lines where it has no such marks, with the
// requests of each line at its end and the findings of `file` below their lines.
std::string code_html(const std::string& file, const std::string& text, const TaskResult& task,
                      const std::vector<Finding>& findings);

}  // namespace ridge::loop
