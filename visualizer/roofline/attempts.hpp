// Groups of results: the attempts at one lab on one backend and device, from first to last, with the results that they
// are compared with.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "roofline/roofline_model.hpp"

namespace ridge::viz {

struct Group {
  std::vector<Result> attempts;     // at least one, ordered by time
  std::optional<Result> reference;  // the newest result of the reference solution, where there are others too
  // The tasks in the order in which attempts introduce them, so that a task keeps its colour.
  std::vector<std::string> tasks;
  std::size_t series(const std::string& task) const;
};

std::vector<Group> grouped(std::vector<Result> results);

enum class Rival { none, vendor, reference };

// A dot in the plot.
struct Dot {
  TaskPoint point;
  std::string task;
  std::size_t series = 0;
  std::size_t attempt = 0;  // index in Group::attempts
  Rival rival = Rival::none;
  std::string who;  // the rival's name: "cuBLASLt", "reference solution"
};

// The dots of all attempts, and of the shown attempt's rivals. `roofs` are those of the shown attempt.
std::vector<Dot> dots_of(const Group& group, std::size_t shown, const Roofs& roofs);
// The highest timed rate of all attempts in operations per second; 0 where none was timed.
double fastest(const Group& group);

// One row of a comparison.
struct Difference {
  std::string what, a, b, change;
  int better = 0;  // 1 where b is better, -1 where it is worse, else 0
};
std::vector<Difference> differences(const Dot* a, const Dot* b, const Task* task_a, const Task* task_b);

}  // namespace ridge::viz
