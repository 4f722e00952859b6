// Checks course.toml against the cluster.
#pragma once
#include <vector>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

// Examines the course from the login node. With `jobs`, a small job also reports what a node sees: the shared folder,
// the program, its clock, the sandbox.
std::vector<Finding> examine(const Course& course, Executor& executor, bool jobs);

}  // namespace ridge::cluster
