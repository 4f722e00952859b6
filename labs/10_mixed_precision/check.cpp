// The tasks of lab 10; their cases, inputs and expected answers are in check/.
#include "check/common.hpp"

namespace ridge::lab::mixed_precision {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(sum());
  checks.push_back(adamw());
  checks.push_back(stochastic());
  checks.push_back(loss_scaler());
  checks.push_back(train());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("10_mixed_precision", make);

}  // namespace

}  // namespace ridge::lab::mixed_precision
