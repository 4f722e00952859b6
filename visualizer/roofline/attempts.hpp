// Results in groups: the attempts at one lab on one backend and device, from first to last, and what they are held
// against.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "roofline/roofline_model.hpp"

namespace ridge::viz {

struct Group {
  std::vector<Result> attempts;     // by time; at least one
  std::optional<Result> reference;  // the newest of the reference solution, where others tried too
  // Its tasks in order of first sight: a task keeps its colour through all attempts.
  std::vector<std::string> tasks;
  std::size_t series(const std::string& task) const;
};

std::vector<Group> grouped(std::vector<Result> results);

enum class Rival { none, vendor, reference };

// A dot of the plot.
struct Dot {
  TaskPoint point;
  std::string task;
  std::size_t series = 0;
  std::size_t attempt = 0;  // in Group::attempts
  Rival rival = Rival::none;
  std::string who;  // of a rival: "cuBLASLt", "reference solution"
};

// Everything that is placed of the attempts (the shown one's rivals only); `roofs` are the shown attempt's.
std::vector<Dot> dots_of(const Group& group, std::size_t shown, const Roofs& roofs);
// The highest rate that was timed, of all attempts; 0: none was.
double fastest(const Group& group);

// One line of a comparison.
struct Difference {
  std::string what, a, b, change;
  int better = 0;  // 1: b is better, -1: worse, 0: neither
};
std::vector<Difference> differences(const Dot* a, const Dot* b, const Task* task_a, const Task* task_b);

}  // namespace ridge::viz
