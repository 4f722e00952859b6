// Runs Slurm's commands. A missing answer is reported as such, never as "the job is gone".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct QueuedTask {
  std::string job, state, node, reason;  // job: as for scancel, "12_3"
  int task = 0;
};

// The last states of tasks that have ended, by job name and task, as long as Slurm remembers them.
using EndedTasks = std::map<std::pair<std::string, int>, std::string>;

// The queued tasks of jobs whose name begins with `prefix`, by job name. Nothing where Slurm did not answer.
std::optional<std::multimap<std::string, QueuedTask>> queue(const std::string& prefix, EndedTasks* ended = nullptr);

// Whether Slurm calls the node well: it answers, and is not taken out of service.
bool node_is_well(const std::string& node);
// The most tasks of one array (MaxArraySize); a large number where Slurm does not say.
int max_array_size();
// Whether sbatch's refusal is about the number of jobs that a user may have.
bool is_submit_limit(const std::string& message);

struct Submitted {
  enum class Kind { accepted, unknown, refused } kind = Kind::unknown;
  std::string job, message;
};
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
  int up = 0;                            // number of nodes that take jobs
};
std::optional<std::vector<Partition>> partitions();

// The path of this program for nodes, which stays valid where a newer build replaced the file.
std::string own_program();

// The output of a Slurm command. Nothing where it failed; `why` then has its message. Throws Error(Exit::environment)
// where the command is missing.
std::optional<std::string> slurm(const std::vector<std::string>& argv, std::string& why, double seconds = 20);

}  // namespace ridge::cluster
