// The tasks of lab 13; their cases, inputs, expected answers and traffic are in check/.
#include "check/common.hpp"

namespace ridge::lab::sharded_training {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(memory_plan());
  checks.push_back(zero2());
  checks.push_back(zero3());
  checks.push_back(recompute());
  checks.push_back(clip_and_save());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("13_sharded_training", make);

}  // namespace

}  // namespace ridge::lab::sharded_training
