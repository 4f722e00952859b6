// Compares two results of a task: checks that now pass or fail, and values that moved.
#pragma once
#include <string>
#include <vector>

#include "grader/result/result.hpp"

namespace ridge::loop {

struct Change {
  std::string what;   // "sectors"
  std::string text;   // "8 x -> 1 x (goal 1.02), ok"
  int direction = 0;  // 1 better, -1 worse, 0 neither
};

std::vector<Change> changes(const TaskResult& before, const TaskResult& after);

// Counters that differ, summed over all kernels, as "name: before -> after (-50%)".
std::vector<std::string> counter_changes(const TaskResult& before, const TaskResult& after);

// The value of a goal, as "8 x (goal 1.02)" or "not measured".
std::string goal_text(const GoalResult& goal);

}  // namespace ridge::loop
