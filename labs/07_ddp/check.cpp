// The tasks of lab 07; their cases, inputs, expected answers and traffic are in check/.
#include "check/common.hpp"

namespace ridge::lab::ddp {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(after());
  checks.push_back(overlapped());
  checks.push_back(accumulated());
  checks.push_back(sharded());
  checks.push_back(compressed_host());
  checks.push_back(compressed());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("07_ddp", make);

}  // namespace

}  // namespace ridge::lab::ddp
