// A machine's topology as doctor prints it.
#pragma once
#include "grader/base/doctor_facts.hpp"
#include "grader/machine/topology/topology.hpp"

namespace ridge {

Facts topology_facts(const Topology& topology);

// How GPUs and adapters reach each other: a table with a line of headings and one that says what its words mean; empty
// where there are fewer than two devices.
std::vector<std::string> topology_matrix(const Topology& topology);

}  // namespace ridge
