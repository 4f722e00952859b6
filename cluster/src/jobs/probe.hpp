// The part of `ridge cluster doctor` that runs on a node.
#pragma once
#include "grader/base/paths.hpp"

namespace ridge::cluster {

// Writes the file `answer` into the batch's folder: what this node sees, one fact per line.
int probe(const fs::path& batch);

}  // namespace ridge::cluster
