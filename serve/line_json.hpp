// What a line of a student's file asked of memory in the last check: for the line under the editor's cursor.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

// {"accesses": [{"kernel", "op", "requests", "took", "ideal", "svg"}], "judged": the hash of the file that was judged}.
// Both are empty where the task's last result has no recording.
nlohmann::json line_json(const Lab& lab, const std::string& task, const std::string& file, std::uint64_t line);

}  // namespace ridge::serve
