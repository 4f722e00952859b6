// The tasks of lab 11; their cases, inputs and expected answers are in check/.
#include "check/common.hpp"

namespace ridge::lab::profiling {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(predict());
  checks.push_back(occupancy());
  checks.push_back(divergence());
  checks.push_back(diagnose());
  checks.push_back(autotune());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("11_profiling", make);

}  // namespace

}  // namespace ridge::lab::profiling
