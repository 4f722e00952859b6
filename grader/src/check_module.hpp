// The checks of a lab: a module beside the program, which is built when somebody first asks for it.
#pragma once
#include <functional>
#include <string>

#include "lab.hpp"
#include "lab/check.hpp"

namespace ridge {

// build/lib/labs/NN_name.so.
fs::path check_module(const Lab& lab);

// Loads the checks, once a process. Where the module is missing or older than its sources, the launcher builds it first;
// `progress` is told. Throws an environment error where that cannot be done.
lab::TaskChecks load_checks(const Lab& lab, const std::function<void(const std::string&)>& progress);

}  // namespace ridge
