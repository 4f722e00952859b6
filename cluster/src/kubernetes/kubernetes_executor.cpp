#include "cluster/src/kubernetes/kubernetes_executor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cluster/src/base/files.hpp"
#include "cluster/src/kubernetes/job_manifest.hpp"
#include "cluster/src/kubernetes/job_states.hpp"
#include "cluster/src/kubernetes/node_states.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

// The value of the label that all Jobs of a course have: "ridge-0a1b2c-" -> "ridge-0a1b2c".
std::string of_course(std::string prefix) {
  while (prefix.ends_with('-')) prefix.pop_back();
  return fmt::format("{}={}", kBatchesLabel, prefix);
}

}  // namespace

std::optional<JobsSeen> KubernetesExecutor::look(const std::string& prefix, std::string& why) {
  // Jobs first: a task that ends between the two answers still counts as queued, until the next look.
  const std::string selector = "--selector=" + of_course(prefix);
  const auto jobs = kubectl_.get({"jobs.batch", selector}, why);
  if (!jobs) return std::nullopt;
  const auto pods = kubectl_.get({"pods", selector, "--field-selector=status.phase!=Succeeded"}, why);
  if (!pods) return std::nullopt;
  std::optional<json> events;
  if (lacks_pods(*jobs, *pods))
    events = kubectl_.get({"events", "--field-selector=involvedObject.kind=Job,type=Warning"}, why);
  return job_states(*jobs, *pods, events.value_or(json::object()));
}

Submitted KubernetesExecutor::submit(const JobRequest& request) {
  const fs::path file = request.batch / "job.json";
  std::error_code ec;
  fs::remove(file, ec);  // of an earlier try
  publish(file, job_manifest(course_, request).dump(1) + "\n");
  const KubectlAnswer a = kubectl_.run({"create", "--filename=" + file.string(), "--output=name"}, 30);
  // The name is the batch's, and only this gradebook has it.
  if (a.good() || a.text.find("(AlreadyExists)") != std::string::npos)
    return {Submitted::Kind::accepted, request.name, ""};
  return {a.kind == KubectlAnswer::Kind::refused ? Submitted::Kind::refused : Submitted::Kind::unknown, "", a.text};
}

// "NAME": the Job; "NAME/3": the pod of its task 3.
void KubernetesExecutor::cancel(const std::vector<std::string>& jobs) {
  std::vector<std::string> whole;
  std::map<std::string, std::vector<std::string>> tasks;
  for (const std::string& job : jobs) {
    const auto slash = job.find('/');
    if (slash == std::string::npos)
      whole.push_back(job);
    else
      tasks[job.substr(0, slash)].push_back(job.substr(slash + 1));
  }
  if (!whole.empty()) {
    std::vector<std::string> words = {"delete", "jobs.batch", "--ignore-not-found", "--wait=false"};
    words.insert(words.end(), whole.begin(), whole.end());
    kubectl_.run(words);
  }
  for (const auto& [job, of_job] : tasks)
    kubectl_.run({"delete", "pods", "--wait=false",
                  fmt::format("--selector={}={},{} in ({})", kJobLabel, job, kIndexLabel, fmt::join(of_job, ","))});
}

bool KubernetesExecutor::cancel_all(const std::string& prefix) {
  return kubectl_.run({"delete", "jobs.batch", "--wait=false", "--selector=" + of_course(prefix)}).good();
}

bool KubernetesExecutor::node_is_well(const std::string& node) {
  std::string why;
  const auto state = kubectl_.get({"node", node}, why);
  // An account that may not see nodes cannot tell.
  return state ? is_well(*state) : why.find("(Forbidden)") != std::string::npos;
}

int KubernetesExecutor::most_tasks() { return 100000; }  // the API's own limit

bool KubernetesExecutor::is_submit_limit(const std::string& message) const {
  return message.find("exceeded quota") != std::string::npos;
}

std::vector<std::string> KubernetesExecutor::nodes(const CourseLab& lab, bool builds) {
  std::string why;
  const auto all = kubectl_.get({"nodes"}, why);
  return all ? fitting(*all, builds ? lab.kubernetes_build : lab.kubernetes) : std::vector<std::string>{};
}

JobPaths KubernetesExecutor::paths() const {
  const std::string& ridge = course_.kubernetes.program;
  return {course_.program.empty() ? fs::path(ridge) : course_.program, ridge, fs::path(kOwnSecrets) / "signing_key",
          fs::path(kOwnSecrets) / "seeds"};
}

}  // namespace ridge::cluster
