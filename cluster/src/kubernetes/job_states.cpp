#include "cluster/src/kubernetes/job_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cluster/src/base/strings.hpp"
#include "formats/json_fields.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

using State = QueuedTask::State;
using Stuck = QueuedTask::Stuck;

const json& inside(const json& j, const char* key) {
  static const json nothing;
  const auto at = j.find(key);
  return at == j.end() ? nothing : *at;
}

const json& items(const json& list) { return inside(list, "items"); }

// The condition of this type where it is true (or false, if asked).
const json* condition(const json& object, const char* type, const char* status = "True") {
  for (const json& c : inside(inside(object, "status"), "conditions"))
    if (text_at(c, "type") == type && text_at(c, "status") == status) return &c;
  return nullptr;
}

std::string job_of(const json& pod) { return text_at(inside(inside(pod, "metadata"), "labels"), kJobLabel); }

int index_of(const json& pod) {
  const std::string text = text_at(inside(inside(pod, "metadata"), "labels"), kIndexLabel);
  return text.empty() ? -1 : std::atoi(text.c_str());
}

bool is_over(const json& pod) {
  const std::string phase = text_at(inside(pod, "status"), "phase");
  return phase == "Failed" || phase == "Succeeded";
}

std::string node_of(const json& pod) { return text_at(inside(pod, "spec"), "nodeName"); }

// Why a pod failed: "OOMKilled (exit code 137)", "DeadlineExceeded: Pod was active on the node longer than ...".
std::string how_it_failed(const json& pod) {
  const json& status = inside(pod, "status");
  std::string why = text_at(status, "reason");
  if (const std::string message = text_at(status, "message"); !message.empty())
    why += (why.empty() ? "" : ": ") + message;
  for (const json& c : inside(status, "containerStatuses")) {
    const json& end = inside(inside(c, "state"), "terminated");
    if (!end.is_object()) continue;
    why +=
        fmt::format("{}{} (exit code {})", why.empty() ? "" : "; ", text_at(end, "reason"), number_at(end, "exitCode"));
  }
  return why;
}

bool excludes_nodes(const json& pod) {
  const json& terms = inside(inside(inside(inside(inside(pod, "spec"), "affinity"), "nodeAffinity"),
                                    "requiredDuringSchedulingIgnoredDuringExecution"),
                             "nodeSelectorTerms");
  return std::ranges::any_of(terms, [](const json& term) {
    return std::ranges::any_of(inside(term, "matchFields"),
                               [](const json& f) { return text_at(f, "operator") == "NotIn"; });
  });
}

// A pod that is not over.
QueuedTask alive(const json& pod) {
  QueuedTask t;
  t.node = node_of(pod);
  t.run = text_at(inside(pod, "metadata"), "uid");
  const json& status = inside(pod, "status");
  if (text_at(status, "phase") != "Pending") {
    t.state = State::running;
    return t;
  }
  if (const json* waits = condition(pod, "PodScheduled", "False")) {
    t.reason = text_at(*waits, "message");
    if (t.reason.empty()) t.reason = text_at(*waits, "reason");
    if (text_at(*waits, "reason") == "Unschedulable" && excludes_nodes(pod)) t.stuck = Stuck::no_node;
  }
  for (const json& c : inside(status, "containerStatuses")) {
    const json& waiting = inside(inside(c, "state"), "waiting");
    const std::string why = text_at(waiting, "reason");
    if (why.empty() || why == "ContainerCreating" || why == "PodInitializing") continue;
    const std::string message = text_at(waiting, "message");
    t.reason = why + (message.empty() ? "" : ": " + message);
    t.stuck = Stuck::held_for_now;  // an image that can't be pulled, a Secret that is not there
  }
  return t;
}

struct Pods {
  std::map<std::pair<std::string, int>, const json*> alive, failed;  // the newest of each task
};

const json* newer(const json* a, const json* b) {
  auto made = [](const json* pod) { return text_at(inside(*pod, "metadata"), "creationTimestamp"); };
  return a == nullptr || made(a) <= made(b) ? b : a;
}

// The machine took the pod away, and its Job makes another one (podFailurePolicy).
const json* disruption(const json& pod) { return condition(pod, "DisruptionTarget"); }

Disruption as_disruption(const json& pod, const json& c) {
  Disruption d{
      text_at(inside(pod, "metadata"), "uid"), job_of(pod), node_of(pod), text_at(c, "reason"), false, index_of(pod)};
  // The scheduler and an eviction say nothing against the node.
  d.blames_node = d.why != "PreemptionByScheduler" && d.why != "EvictionByEvictionAPI";
  if (const std::string message = text_at(c, "message"); !message.empty()) d.why += ": " + message;
  return d;
}

}  // namespace

std::set<int> indexes(const std::string& text) {
  std::set<int> all;
  for (const std::string& part : split(text, ',')) {
    const auto dash = part.find('-');
    const int first = std::atoi(part.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(part.c_str() + dash + 1);
    for (int i = first; i <= last; ++i) all.insert(i);
  }
  return all;
}

bool lacks_pods(const json& jobs, const json& pods) {
  return std::ranges::any_of(items(jobs), [&](const json& job) {
    const std::string name = text_at(inside(job, "metadata"), "name");
    return condition(job, "Complete") == nullptr && condition(job, "Failed") == nullptr &&
           !flag_at(inside(job, "spec"), "suspend") &&
           std::ranges::none_of(items(pods), [&](const json& pod) { return job_of(pod) == name && !is_over(pod); });
  });
}

JobsSeen job_states(const json& jobs, const json& pods, const json& events) {
  JobsSeen seen;
  Pods known;
  for (const json& pod : items(pods)) {
    const std::pair<std::string, int> key{job_of(pod), index_of(pod)};
    const json* taken = disruption(pod);
    if (taken != nullptr) seen.disruptions.push_back(as_disruption(pod, *taken));
    if (is_over(pod) && taken != nullptr) continue;
    const json*& slot = is_over(pod) ? known.failed[key] : known.alive[key];
    slot = newer(slot, &pod);
  }
  for (const json& job : items(jobs)) {
    const json &spec = inside(job, "spec"), &status = inside(job, "status");
    const std::string name = text_at(inside(job, "metadata"), "name");
    const std::set<int> done = indexes(text_at(status, "completedIndexes")),
                        failed = indexes(text_at(status, "failedIndexes"));
    const json* over = condition(job, "Failed");
    if (over == nullptr) over = condition(job, "Complete");
    const bool suspended = flag_at(spec, "suspend");
    std::string reason = suspended ? "its Job is suspended, as Kueue does until it has room" : "";
    for (const json& e : items(events))
      if (text_at(inside(e, "involvedObject"), "name") == name) reason = text_at(e, "message");
    const int tasks = static_cast<int>(number_at(spec, "completions"));
    for (int task = 0; task < tasks; ++task) {
      if (done.contains(task) || failed.contains(task) || over != nullptr) {
        EndedTask end;
        const auto pod = known.failed.find({name, task});
        if (failed.contains(task))
          end.why = pod == known.failed.end() ? "its pod failed" : how_it_failed(*pod->second);
        else if (!done.contains(task))
          end.why = text_at(*over, "reason") + ": " + text_at(*over, "message");
        seen.ended[{name, task}] = end;
        continue;
      }
      const auto pod = known.alive.find({name, task});
      QueuedTask t = pod != known.alive.end() ? alive(*pod->second) : QueuedTask{};
      if (pod == known.alive.end() || suspended) t.state = State::waiting, t.reason = reason;
      t.job = fmt::format("{}/{}", name, task), t.task = task;
      seen.queued.emplace(name, t);
    }
  }
  return seen;
}

}  // namespace ridge::cluster
