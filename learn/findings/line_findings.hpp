// Explains a missed goal by the source lines and the pattern of addresses behind it.
#pragma once
#include <map>
#include <string>

#include "learn/findings/findings.hpp"

namespace ridge::loop {

// A finding with its `where`, `what` and `why`.
Finding goal_finding(const TaskResult& task, const GoalResult& goal, const std::map<std::string, std::string>& sources);

// "512 bytes", "84 kB", "17 MB".
std::string bytes_text(double bytes);

}  // namespace ridge::loop
