// The checks of lab 17, a function each.
#pragma once
#include <memory>

#include "checks/files.hpp"
#include "runtime/files/model/file_system.hpp"

namespace ridge::lab::input_pipeline {

std::unique_ptr<TaskCheck> shards();
std::unique_ptr<TaskCheck> prefetch();
std::unique_ptr<TaskCheck> stripes();
std::unique_ptr<TaskCheck> direct();

// Ratio of a count to what a good solution needs.
inline Mark ratio(const char* goal, double value, double bound, std::string message) {
  return {goal, value / bound, "x the bound", std::move(message), "more than is needed"};
}

}  // namespace ridge::lab::input_pipeline
