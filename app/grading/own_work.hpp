// A student's own copy of a lab, in work/NN_name.
#pragma once
#include <string>

#include "grader/base/paths.hpp"
#include "grader/lab/lab.hpp"

namespace ridge {

// Makes the copy from the lab's stub and prints the next steps. An existing copy is left as it is. Returns the exit
// code.
int start_work(const std::string& lab);

// The folder of the copy, which is made if it does not exist.
fs::path own_folder(const Lab& lab);

}  // namespace ridge
