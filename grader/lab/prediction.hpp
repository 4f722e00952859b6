// A question of lab.toml that `ridge check` asks before a task runs for the first time.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace ridge {

struct Prediction {
  std::string id, task, ask;
  std::string metric;                // the answer is what the task's goal of this metric measures; empty: it is fixed
  std::optional<double> number;      // the fixed answer, a number
  std::vector<std::string> choices;  // empty: a number is asked for
  std::optional<std::size_t> right;  // the fixed answer, a choice
  std::string unit;                  // "sectors"; empty: none
  std::string why;                   // a sentence shown with the answer
};

}  // namespace ridge
