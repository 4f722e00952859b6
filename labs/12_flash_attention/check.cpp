// The tasks of lab 12; their cases, inputs and expected answers are in check/.
#include "check/tasks.hpp"

namespace ridge::lab::flash_attention {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(online_softmax());
  checks.push_back(forward());
  checks.push_back(tensor("tensor"));
  checks.push_back(backward());
  checks.push_back(tensor("hopper"));
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("12_flash_attention", make);

}  // namespace

}  // namespace ridge::lab::flash_attention
