// The tasks of lab 19; their cases, inputs and expected answers are in check/.
#include "check/common.hpp"

namespace ridge::lab::topology {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(trees());
  checks.push_back(all_to_all());
  checks.push_back(schedule());
  checks.push_back(share());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("19_topology", make);

}  // namespace

}  // namespace ridge::lab::topology
