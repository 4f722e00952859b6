// Reads what `kubectl get jobs` and `kubectl get pods` say, as the tasks of batches.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

inline constexpr const char* kBatchesLabel = "ridge.batches";  // of a course's Jobs and their pods
inline constexpr const char* kJobLabel = "batch.kubernetes.io/job-name";
inline constexpr const char* kIndexLabel = "batch.kubernetes.io/job-completion-index";

// "0,2-4" -> 0, 2, 3, 4
std::set<int> indexes(const std::string& text);

// `pods`: without those that succeeded, which their Jobs tell. `events`: warnings about Jobs.
JobsSeen job_states(const nlohmann::json& jobs, const nlohmann::json& pods, const nlohmann::json& events);

// Whether some Job should have pods and has none: only events then say why.
bool lacks_pods(const nlohmann::json& jobs, const nlohmann::json& pods);

}  // namespace ridge::cluster
