// Kubernetes as the executor of a class's jobs: a batch is an Indexed Job.
#pragma once
#include "cluster/src/jobs/executor.hpp"
#include "cluster/src/kubernetes/kubectl.hpp"

namespace ridge::cluster {

class KubernetesExecutor : public Executor {
 public:
  explicit KubernetesExecutor(const Course& course) : course_(course), kubectl_(course.kubernetes) {}

  std::string name() const override { return "Kubernetes"; }
  std::optional<JobsSeen> look(const std::string& prefix, std::string& why) override;
  Submitted submit(const JobRequest& request) override;
  void cancel(const std::vector<std::string>& jobs) override;
  bool cancel_all(const std::string& prefix) override;
  bool node_is_well(const std::string& node) override;
  int most_tasks() override;
  bool is_submit_limit(const std::string& message) const override;
  int position(const std::string&) override { return -1; }
  std::vector<std::string> nodes(const CourseLab& lab, bool builds) override;
  JobPaths paths() const override;
  void examine(std::vector<Finding>& findings) override;

 private:
  const Course& course_;
  Kubectl kubectl_;
};

}  // namespace ridge::cluster
