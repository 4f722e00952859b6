// What the cases that are right tell about the first one that is wrong.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::loop {

// The failing case is the task's last one. Cases are known by their names: "n 1003", "33 x 65", "2 ranks, n 1".
std::string case_advice(const TaskResult& task);

}  // namespace ridge::loop
