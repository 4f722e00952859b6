// From measured values to points, with a sentence on why a goal was missed.
#pragma once
#include <optional>
#include <string>

#include "counters.hpp"
#include "lab.hpp"
#include "lab/check.hpp"
#include "result.hpp"

namespace ridge {

// Points run linearly from `zero` to `full`, in either direction; outside they are clamped.
double points_for(const Goal& goal, double value);

// What a task's goals are judged by.
struct Measured {
  lab::Work work;  // of the measured case
  std::optional<Counted> counted;
  std::optional<Timing> timing;
};

// Fills task.goals and task.points from the measurements. `correct` false: nothing is earned, values stay null.
void score_goals(TaskResult& task, const Task& spec, const std::string& backend, const Measured& measured,
                 bool correct);

}  // namespace ridge
