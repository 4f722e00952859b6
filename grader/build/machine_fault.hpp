// Decides whether a failed build is the submission's fault or the machine's.
#pragma once
#include <functional>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"

namespace ridge {

// Builds the source `probe` in the folder `dir`, as a submission is built. Throws Error(Exit::build) where that fails.
using BuildProbe = std::function<void(const fs::path& probe, const fs::path& dir)>;

// A compiler that builds nothing is no submission's fault. Where `failure` names no line of the submission, a small
// program that is right is built once a process; where that fails too, throws Error(Exit::environment) with what to do.
void blame_machine(const Error& failure, const BuildProbe& build);

}  // namespace ridge
