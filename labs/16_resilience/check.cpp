// The tasks of lab 16; their cases, inputs and expected answers are in check/.
#include "check/tasks.hpp"

namespace ridge::lab::resilience {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(interval());
  checks.push_back(save());
  checks.push_back(async_save());
  checks.push_back(resume());
  checks.push_back(reshard());
  checks.push_back(elastic());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("16_resilience", make);

}  // namespace

}  // namespace ridge::lab::resilience
