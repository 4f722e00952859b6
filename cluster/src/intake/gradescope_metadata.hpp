// submission_metadata.yml, which tells whose the folders of a Gradescope export are.
#pragma once
#include <string>

#include "cluster/src/intake/owners.hpp"

namespace ridge::cluster {

// Throws Error(Exit::usage) where the text is no such file, and Error(Exit::environment) where Ridge was built without
// libyaml.
Submitters read_submitters(const std::string& text, const std::string& name);

}  // namespace ridge::cluster
