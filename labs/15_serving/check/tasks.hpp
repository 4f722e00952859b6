// The checks of lab 15, a function each.
#pragma once
#include <memory>

#include "checks/check.hpp"

namespace ridge::lab::serving {

std::unique_ptr<TaskCheck> decode_attention();
std::unique_ptr<TaskCheck> paged();
std::unique_ptr<TaskCheck> blocks();
std::unique_ptr<TaskCheck> batcher();
std::unique_ptr<TaskCheck> decode_graph();
std::unique_ptr<TaskCheck> speculate();

}  // namespace ridge::lab::serving
