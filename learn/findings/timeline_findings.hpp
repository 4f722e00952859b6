// What a timeline says: where a goal in virtual time loses its time, and what makes an answer wrong.
#pragma once
#include <string>

#include "learn/findings/findings.hpp"

namespace ridge::loop {

// `what`, `why` and `behind` of a goal in virtual time.
void virtual_time_finding(const TaskResult& task, const GoalResult& goal, Finding& f);

// What the order of the operations makes likely where an answer is wrong; empty: nothing.
std::string wrong_order_advice(const TaskResult& task);

}  // namespace ridge::loop
