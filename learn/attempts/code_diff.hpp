// Compares the code of two attempts.
#pragma once
#include <string>
#include <vector>

#include "grader/result/result.hpp"
#include "learn/attempts/line_diff.hpp"

namespace ridge::loop {

struct FileDiff {
  std::string name;
  std::vector<DiffLine> lines;
  bool known = true;  // false if a content is no longer kept; `lines` is then empty
};

// The files of the submission that differ, by name.
std::vector<FileDiff> code_diff(const Result& before, const Result& after);

// A line about an attempt, as "2026-11-21 03:04: check on cpu, 15 / 100".
std::string attempt_title(const Result& result);

}  // namespace ridge::loop
