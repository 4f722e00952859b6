// Reads what `kubectl get nodes` says.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

// Whether a node answers, and is not taken out of service.
bool is_well(const nlohmann::json& node);

// The names of the nodes that are well, have the labels that the pods ask for, and as much of each resource.
std::vector<std::string> fitting(const nlohmann::json& nodes, const PodOptions& pods);

// The NVIDIA resources that the nodes have, with their numbers: "nvidia.com/mig-1g.10gb: 14".
std::vector<std::string> offers(const nlohmann::json& nodes);

}  // namespace ridge::cluster
