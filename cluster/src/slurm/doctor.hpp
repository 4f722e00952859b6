// Whether course.toml and this cluster fit each other.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct Finding {
  enum class Kind { good, doubtful, bad } kind;
  std::string what, advice;
};

// From the login node. `jobs`: also asks a node, by a small job, what it sees: the shared folder, the program, its
// clock, the sandbox.
std::vector<Finding> examine(const Course& course, bool jobs);

// What such a job prints on its node, one line a fact.
int probe(const fs::path& batch);

}  // namespace ridge::cluster
