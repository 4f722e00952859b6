// Slurm as the executor of a class's jobs: a batch is a job array.
#pragma once
#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

class SlurmExecutor : public Executor {
 public:
  explicit SlurmExecutor(const Course& course) : course_(course) {}

  std::string name() const override { return "Slurm"; }
  std::optional<JobsSeen> look(const std::string& prefix, std::string& why) override;
  Submitted submit(const JobRequest& request) override;
  void cancel(const std::vector<std::string>& jobs) override;
  bool cancel_all(const std::string& prefix) override;
  bool node_is_well(const std::string& node) override;
  int most_tasks() override;
  bool is_submit_limit(const std::string& message) const override;
  int position(const std::string& prefix) override;
  JobLimits limits(const CourseLab& lab, bool builds) override;
  std::vector<std::string> nodes(const CourseLab& lab, bool builds) override;
  JobPaths paths() const override;
  void examine(std::vector<Finding>& findings) override;

 private:
  const Course& course_;
};

}  // namespace ridge::cluster
