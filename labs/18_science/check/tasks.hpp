// The checks of lab 18, a function each.
#pragma once
#include <memory>

#include "checks/check.hpp"

namespace ridge::lab::science {

std::unique_ptr<TaskCheck> spmv();
std::unique_ptr<TaskCheck> cg();
std::unique_ptr<TaskCheck> fft();
std::unique_ptr<TaskCheck> nbody();
std::unique_ptr<TaskCheck> halo();

}  // namespace ridge::lab::science
