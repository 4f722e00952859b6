// Runs Slurm's commands. A missing answer is reported as such, never as "the job is gone".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

// The queued tasks of jobs whose name begins with `prefix`, by job name. Nothing where Slurm did not answer.
std::optional<std::multimap<std::string, QueuedTask>> queue(const std::string& prefix, EndedTasks* ended = nullptr,
                                                            std::string* why = nullptr);

// Whether Slurm calls the node well: it answers, and is not taken out of service.
bool node_is_well(const std::string& node);
// The most tasks of one array (MaxArraySize); a large number where Slurm does not say.
int max_array_size();
// Submits an array job. `unknown` means that there was no reply: look for the job's name before another try.
Submitted submit(const std::string& name, const SlurmOptions& options, int tasks, int at_once, int minutes,
                 const std::vector<std::string>& excluded, const fs::path& log,
                 const std::vector<std::string>& command);

void cancel_jobs(const std::vector<std::string>& jobs);

// The number of pending jobs before the first one with `prefix`, in Slurm's order of priority; -1 where none is
// pending.
int queue_position(const std::string& partition, const std::string& prefix);

struct Partition {
  std::string name, state, time_limit;
  std::vector<std::string> nodes, gres;  // gres: of all nodes together
  std::vector<std::string> up;           // the nodes that take jobs
};
std::optional<std::vector<Partition>> partitions();

// A value of `scontrol show config`; empty where it has none.
std::string configured(const std::string& config, const std::string& key);

// The output of a Slurm command. Nothing where it failed; `why` then has its message. Throws Error(Exit::environment)
// where the command is missing.
std::optional<std::string> slurm(const std::vector<std::string>& argv, std::string& why, double seconds = 20);

}  // namespace ridge::cluster
