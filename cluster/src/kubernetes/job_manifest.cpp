#include "cluster/src/kubernetes/job_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cluster/src/base/files.hpp"
#include "cluster/src/kubernetes/job_states.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

constexpr const char* kSecrets = "/run/ridge/secret";
constexpr int kGraceSeconds = 20;  // a submission that is nearly graded is published all the same

json from_field(const char* name, const std::string& path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

// bubblewrap needs a /proc that no mount covers, or the rights to mount one all the same (docs/kubernetes.md).
json container_rights(const Course& c) {
  json rights = {{"allowPrivilegeEscalation", false}, {"readOnlyRootFilesystem", true}};
  if (c.kubernetes.sandbox == "sys-admin") {
    rights["allowPrivilegeEscalation"] = true;  // SYS_ADMIN implies it
    rights["capabilities"] = {{"add", {"SYS_ADMIN", "NET_ADMIN"}}};
  } else {
    rights["procMount"] = "Unmasked";
    rights["capabilities"] = {{"drop", {"ALL"}}};
  }
  return rights;
}

json container(const Course& c, const JobRequest& r, const PodOptions& o) {
  json resources = json::object();
  for (const auto& [name, amount] : o.resources) resources[name] = amount;
  if (o.cpus > 0) resources["cpu"] = std::to_string(o.cpus);
  if (!o.memory.empty()) resources["memory"] = o.memory;
  json shared = {{"name", "shared"}, {"mountPath", c.shared.string()}};
  if (!c.kubernetes.claim_path.empty()) shared["subPath"] = c.kubernetes.claim_path;
  std::string log = r.log.string();
  if (const auto at = log.find("%a"); at != std::string::npos) log.replace(at, 2, "$(JOB_COMPLETION_INDEX)");
  return {{"name", "judge"},
          {"image", o.image},
          {"command",
           {"/bin/sh", "-c", file_text(root_dir() / "cluster/kubernetes/task.sh"), "ridge-task", r.ridge,
            r.batch.string(), log, c.setup}},
          {"env",
           {from_field("RIDGE_NODE", "spec.nodeName"),
            from_field("RIDGE_JOB", fmt::format("metadata.labels['{}']", kJobLabel)),
            from_field("JOB_COMPLETION_INDEX", fmt::format("metadata.labels['{}']", kIndexLabel)),
            {{"name", "HOME"}, {"value", "/tmp"}},
            {{"name", "TMPDIR"}, {"value", "/tmp"}}}},
          {"resources", {{"limits", resources}, {"requests", resources}}},
          {"securityContext", container_rights(c)},
          {"volumeMounts",
           {shared,
            {{"name", "secret"}, {"mountPath", kSecrets}, {"readOnly", true}},
            {{"name", "own"}, {"mountPath", kOwnSecrets}},
            {{"name", "tmp"}, {"mountPath", "/tmp"}}}}};
}

json affinity(const std::vector<std::string>& excluded) {
  json fields = json::array();
  for (const std::string& node : excluded)
    fields.push_back({{"key", "metadata.name"}, {"operator", "NotIn"}, {"values", {node}}});
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", {{{"matchFields", fields}}}}}}}}};
}

json pod(const Course& c, const JobRequest& r, const PodOptions& o) {
  json spec = {{"restartPolicy", "Never"},
               {"activeDeadlineSeconds", r.minutes * 60},  // of one task on its node; waiting does not count
               {"terminationGracePeriodSeconds", kGraceSeconds},
               {"automountServiceAccountToken", false},
               {"enableServiceLinks", false},
               {"securityContext",
                {{"runAsUser", c.kubernetes.user},
                 {"runAsGroup", c.kubernetes.user},
                 {"runAsNonRoot", c.kubernetes.user != 0},
                 {"seccompProfile", {{"type", "Localhost"}, {"localhostProfile", "ridge.json"}}}}},
               {"containers", {container(c, r, o)}},
               {"volumes",
                {{{"name", "shared"}, {"persistentVolumeClaim", {{"claimName", c.kubernetes.claim}}}},
                 {{"name", "secret"}, {"secret", {{"secretName", c.kubernetes.secret}}}},
                 {{"name", "own"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "1Mi"}}}},
                 {{"name", "tmp"}, {"emptyDir", json::object()}}}}};
  if (c.kubernetes.sandbox != "sys-admin") spec["hostUsers"] = false;
  if (!o.node_selector.empty()) spec["nodeSelector"] = o.node_selector;
  if (!o.priority.empty()) spec["priorityClassName"] = o.priority;
  for (const std::string& key : o.tolerations) spec["tolerations"].push_back({{"key", key}, {"operator", "Exists"}});
  if (!r.excluded.empty()) spec["affinity"] = affinity(r.excluded);
  return spec;
}

}  // namespace

json job_manifest(const Course& c, const JobRequest& r) {
  const PodOptions& o = r.builds ? r.lab.kubernetes_build : r.lab.kubernetes;
  const int parallelism = r.at_once > 0 ? std::min(r.at_once, r.tasks) : r.tasks;
  json labels = {{kBatchesLabel, r.name.substr(0, r.name.rfind('-'))}};
  json annotations = json::object();
  if (!o.queue.empty()) {
    labels["kueue.x-k8s.io/queue-name"] = o.queue;
    // Kueue starts a part of the tasks where not all fit at once.
    if (parallelism > 1) annotations["kueue.x-k8s.io/job-min-parallelism"] = "1";
  }
  json job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", r.name}, {"labels", labels}, {"annotations", annotations}}},
      {"spec",
       {{"completionMode", "Indexed"},
        {"completions", r.tasks},
        {"parallelism", parallelism},
        {"backoffLimitPerIndex", 0},  // the collector tries again, with a new token
        {"podReplacementPolicy", "Failed"},
        // What the machine ended is no failure of the task: the Job makes another pod, with the same tokens.
        {"podFailurePolicy",
         {{"rules",
           {{{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}, {"status", "True"}}}}}}}}},
        {"ttlSecondsAfterFinished", c.kubernetes.keep_hours * 3600},
        {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod(c, r, o)}}}}}};
  if (!o.patch.empty()) {
    const auto text = read_regular(o.patch, 1 << 20);
    const json patch = text ? json::parse(*text, nullptr, false) : json();
    if (!patch.is_object())
      throw Error(Exit::usage, fmt::format("`patch`: {} is no JSON object", shown(o.patch)),
                  "it is merged into the Job (RFC 7386): docs/kubernetes.md");
    job.merge_patch(patch);
  }
  return job;
}

}  // namespace ridge::cluster
