// Where a student stands in a lab, as the page reads it: tasks with gates, goals and hints, what to look at next, and
// what the compiler said. It shows the records that `ridge check` and `ridge watch` have stored, and judges nothing.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

// All labs with their points, for the list.
nlohmann::json labs_json(const std::vector<Lab>& labs);

nlohmann::json lab_json(const Lab& lab);

// A message of a compiler at a line of a student's file.
struct CompilerMessage {
  std::string file;
  int line = 0;
  std::string text;  // "error: ..."
};
// Those that begin with "FILE:LINE:COLUMN: error:" or "FILE:LINE: error:", where FILE is one of `files`; at most 20.
std::vector<CompilerMessage> compiler_messages(const std::string& output, const std::vector<std::string>& files);

}  // namespace ridge::serve
