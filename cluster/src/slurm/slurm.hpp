// What is asked of Slurm, by its own commands. An answer that does not come is no answer: never "the job is gone".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct QueuedTask {
  std::string job, state, node, reason;  // job: as scancel takes it, "12_3"
  int task = 0;
};

// Tasks in the queue whose job's name begins with `prefix`, by name. Nothing: Slurm did not answer.
std::optional<std::multimap<std::string, QueuedTask>> queue(const std::string& prefix);

struct Submitted {
  enum class Kind { accepted, unknown, refused } kind = Kind::unknown;
  std::string job, message;
};
// unknown: no reply, so it may or may not be queued: look for its name before another try.
Submitted submit(const std::string& name, const SlurmOptions& options, int tasks, int at_once, int minutes,
                 const std::vector<std::string>& excluded, const fs::path& log,
                 const std::vector<std::string>& command);

void cancel_jobs(const std::vector<std::string>& jobs);

// Pending jobs of the partition before the first of ours, by Slurm's own order of priority; -1: none of ours waits.
int queue_position(const std::string& partition, const std::string& prefix);

struct Partition {
  std::string name, state, time_limit;
  std::vector<std::string> nodes, gres;  // gres: of any of its nodes
  int up = 0;                            // nodes that take jobs
};
std::optional<std::vector<Partition>> partitions();

// This program, as nodes can start it: also where the file was replaced by a newer build meanwhile.
std::string own_program();

// Output of a command of Slurm's; nothing where it failed, whose message is in `why`.
std::optional<std::string> slurm(const std::vector<std::string>& argv, std::string& why, double seconds = 20);

}  // namespace ridge::cluster
