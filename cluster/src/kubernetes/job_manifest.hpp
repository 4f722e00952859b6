// The Indexed Job of a batch.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

// Where a pod has the course's secrets: a copy that belongs to its own account, in memory.
inline constexpr const char* kOwnSecrets = "/run/ridge/own";

// Throws Error where `patch` is no JSON, or the script of tasks cannot be read.
nlohmann::json job_manifest(const Course& course, const JobRequest& request);

}  // namespace ridge::cluster
