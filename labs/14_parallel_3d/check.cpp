// The tasks of lab 14; their cases, inputs and expected answers are in check/.
#include "check/common.hpp"

namespace ridge::lab::parallel_3d {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(groups());
  checks.push_back(place());
  checks.push_back(step_3d());
  checks.push_back(planner());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("14_parallel_3d", make);

}  // namespace

}  // namespace ridge::lab::parallel_3d
