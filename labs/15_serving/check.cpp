// The tasks of lab 15; their cases, inputs and expected answers are in check/.
#include "check/tasks.hpp"

namespace ridge::lab::serving {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(decode_attention());
  checks.push_back(paged());
  checks.push_back(blocks());
  checks.push_back(batcher());
  checks.push_back(decode_graph());
  checks.push_back(speculate());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("15_serving", make);

}  // namespace

}  // namespace ridge::lab::serving
