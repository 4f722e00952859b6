// The checks of lab 16, a function each.
#pragma once
#include <memory>
#include <string>

#include "checks/files.hpp"
#include "runtime/files/model/file_system.hpp"

namespace ridge::lab::resilience {

std::unique_ptr<TaskCheck> interval();
std::unique_ptr<TaskCheck> save();
std::unique_ptr<TaskCheck> async_save();
std::unique_ptr<TaskCheck> resume();
std::unique_ptr<TaskCheck> reshard();
std::unique_ptr<TaskCheck> elastic();

// A submission can send notes to the judge past entry.cu.
inline Verdict other_marks() {
  return {false, "the judge was sent other marks than entry.cu's", "the judge was sent other marks than entry.cu's"};
}

// Ratio of a count to what a good solution needs.
inline Mark ratio(const char* goal, double value, double bound, std::string message) {
  return {goal, value / bound, "x the bound", std::move(message), "more than is needed"};
}

}  // namespace ridge::lab::resilience
