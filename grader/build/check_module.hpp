// The checks of a lab: a module beside the program, which is built when somebody first asks for it.
#pragma once
#include <functional>
#include <string>

#include "checks/check.hpp"
#include "grader/lab/lab.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

// Why nothing can be built here; empty where it can.
std::string cannot_build();
// A target of this build, by the launcher: its output and exit code.
ProcessResult build_target(const std::string& target);

// Loads the checks, once a process. Where the module is missing or older than its sources, the launcher builds it
// first; `progress` is told. Throws an environment error where that cannot be done.
lab::TaskChecks load_checks(const Lab& lab, const std::function<void(const std::string&)>& progress);

}  // namespace ridge
