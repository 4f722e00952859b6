// A student's own copy of a lab, work/NN_name.
#pragma once
#include <string>

#include "grader/base/lab.hpp"
#include "grader/base/paths.hpp"

namespace ridge {

// Makes the copy from the lab's stub and says what to do with it; one that is there already is left as it is. Returns
// the exit code.
int start_work(const std::string& lab);

// The copy's folder, which is made where there is none yet.
fs::path own_folder(const Lab& lab);

}  // namespace ridge
