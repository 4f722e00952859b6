// What Slurm's accounting allows this account's jobs, and in which federation its cluster is.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

// The answers of Slurm 22.05: `sacctmgr -nP show qos format=...` and `show assoc format=...`, each in this order.
inline constexpr const char* kQosColumns =
    "Name,MaxJobsPU,MaxSubmitPU,MaxJobsPA,MaxSubmitPA,GrpJobs,GrpSubmit,MaxTRESPU,GrpTRES";
inline constexpr const char* kAssocColumns = "Account,Partition,MaxJobs,MaxSubmit,GrpJobs,GrpSubmit,GrpTRES,DefaultQOS";

// What one array task takes: "gpu:h100:2" on each of so many nodes.
struct TaskResources {
  int gpus = 0, cpus = 0, nodes = 1;
  std::string gpu_type;
};
TaskResources resources_of(const SlurmOptions& options);

// Lowers `limits` by one row of either listing.
void add_qos_limits(JobLimits& limits, const std::string& row, const TaskResources& task);
void add_assoc_limits(JobLimits& limits, const std::string& row, const TaskResources& task);

// The limits of such jobs; `why` says what did not answer, and then there are none. No limits where Slurm keeps no
// accounts. Not read: limits of parent accounts, and of minutes.
JobLimits job_limits(const SlurmOptions& options, std::string& why);

// A cluster of several that share their jobs.
struct Federation {
  std::string name, self;
  std::vector<std::string> siblings;
};
// From `scontrol show federation`.
std::optional<Federation> federation_in(const std::string& answer);

}  // namespace ridge::cluster
