// A control group for one job: bounds its processes and memory together, and ends all of them. v2 and v1.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ridge {

class JobGroup {
 public:
  // Makes what can be made here; without permission, nothing.
  JobGroup(unsigned tasks, std::uint64_t memory_bytes);
  ~JobGroup();
  JobGroup(const JobGroup&) = delete;
  JobGroup& operator=(const JobGroup&) = delete;

  bool join() const;  // in the child, after fork; false with errno set
  // Kills what is in it and removes it. False where something stays.
  bool end();

  bool limits_tasks() const { return tasks_; }
  bool limits_memory() const { return memory_; }

 private:
  std::vector<std::string> folders_;
  std::vector<int> doors_;  // their cgroup.procs
  bool tasks_ = false, memory_ = false;
};

struct SandboxGroups {
  bool tasks = false, memory = false;
};
// The resources that control groups can limit on this machine.
SandboxGroups sandbox_groups();

// A program that is ending by a signal calls this function.
void remove_job_groups();

}  // namespace ridge
