// The tasks of lab 18; their cases, inputs and expected answers are in check/.
#include "check/tasks.hpp"

namespace ridge::lab::science {

namespace {

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(spmv());
  checks.push_back(cg());
  checks.push_back(fft());
  checks.push_back(nbody());
  checks.push_back(halo());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("18_science", make);

}  // namespace

}  // namespace ridge::lab::science
