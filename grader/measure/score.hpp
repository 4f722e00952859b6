// Turns measured values into points, with a sentence on why a goal was missed.
#pragma once
#include <string>

#include "grader/lab/lab.hpp"
#include "grader/measure/metrics.hpp"
#include "grader/result/result.hpp"

namespace ridge {

// Points run linearly from `zero` to `full`, in either direction; outside they are clamped.
double points_for(const Goal& goal, double value);

// Fills task.goals and task.points from the measurements. `correct` false: nothing is earned, values stay null.
void score_goals(TaskResult& task, const Task& spec, lab::Backend backend, const Measured& measured, bool correct);

}  // namespace ridge
