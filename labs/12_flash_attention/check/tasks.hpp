// The checks of lab 12, a function each.
#pragma once
#include <memory>
#include <string>

#include "checks/check.hpp"

namespace ridge::lab::flash_attention {

std::unique_ptr<TaskCheck> online_softmax();
std::unique_ptr<TaskCheck> forward();
std::unique_ptr<TaskCheck> tensor(std::string id);  // and hopper: one contract, one check
std::unique_ptr<TaskCheck> backward();

}  // namespace ridge::lab::flash_attention
