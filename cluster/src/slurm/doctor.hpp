// Checks course.toml against the cluster.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct Finding {
  enum class Kind { good, doubtful, bad } kind;
  std::string what, advice;
};

// Examines the course from the login node. With `jobs`, a small job also reports what a node sees: the shared folder,
// the program, its clock, the sandbox.
std::vector<Finding> examine(const Course& course, bool jobs);

// The small job's part: writes the file `answer` into the batch's folder, one fact per line.
int probe(const fs::path& batch);

}  // namespace ridge::cluster
