// The tasks of lab 17; their cases, inputs and expected answers are in check/.
#include "check/tasks.hpp"

namespace ridge::lab::input_pipeline {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(shards());
  checks.push_back(prefetch());
  checks.push_back(stripes());
  checks.push_back(direct());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("17_input_pipeline", make);

}  // namespace

}  // namespace ridge::lab::input_pipeline
