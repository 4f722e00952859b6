#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cluster/src/base/files.hpp"
#include "cluster/src/kubernetes/job_manifest.hpp"
#include "cluster/src/kubernetes/kubernetes_executor.hpp"
#include "cluster/src/kubernetes/node_states.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

using Kind = Finding::Kind;

// What the collector asks for while it grades. cluster/kubernetes/base has a role with these rights.
constexpr std::pair<const char*, const char*> kRights[] = {{"create", "jobs.batch"}, {"list", "jobs.batch"},
                                                           {"delete", "jobs.batch"}, {"list", "pods"},
                                                           {"delete", "pods"},       {"list", "events"}};

bool examine_rights(const Kubectl& kubectl, const KubernetesCluster& k, std::vector<Finding>& all) {
  const std::size_t before = all.size();
  for (const auto& [verb, what] : kRights) {
    const KubectlAnswer a = kubectl.run({"auth", "can-i", verb, what, "--quiet"});
    if (a.good()) continue;
    if (!a.text.empty()) {
      all.push_back({Kind::bad, "Kubernetes does not answer: " + a.text, "`kubectl version` with the same kubeconfig"});
      return false;
    }
    all.push_back({Kind::bad, fmt::format("this account may not {} {} in namespace {}", verb, what, k.name_space),
                   "apply the role of cluster/kubernetes/base, and bind it to this account"});
  }
  return all.size() == before;
}

void examine_claim(const Kubectl& kubectl, const KubernetesCluster& k, std::vector<Finding>& all) {
  std::string why;
  const auto claim = kubectl.get({"persistentvolumeclaim", k.claim}, why);
  if (!claim) {
    all.push_back(
        {Kind::bad, fmt::format("claim {}: {}", k.claim, why), "`claim` in [kubernetes] names the volume of `shared`"});
    return;
  }
  const json status = claim->value("status", json::object());
  const json modes = status.value("accessModes", json::array());
  if (text_at(status, "phase") != "Bound")
    all.push_back({Kind::bad, fmt::format("claim {} is {}", k.claim, text_at(status, "phase")), "it needs a volume"});
  else if (std::ranges::find(modes, json("ReadWriteMany")) == modes.end())
    all.push_back(
        {Kind::bad, fmt::format("claim {} is not ReadWriteMany", k.claim), "all nodes and the collector write to it"});
  else
    all.push_back({Kind::good, fmt::format("claim {} is bound, ReadWriteMany", k.claim), ""});
}

void examine_fit(const Kubectl& kubectl, const Course& c, std::vector<Finding>& all) {
  std::string why;
  const auto nodes = kubectl.get({"nodes"}, why);
  if (!nodes) {
    all.push_back({Kind::doubtful, "the nodes are not known: " + why,
                   "with the cluster role of cluster/kubernetes/base/nodes.yaml Ridge compares them with course.toml"});
    return;
  }
  for (const auto& [name, lab] : c.labs)
    if (const auto fit = fitting(*nodes, lab.kubernetes); fit.empty())
      all.push_back({Kind::bad,
                     fmt::format("{}: no node that is well has the labels and resources that its pods ask for", name),
                     fmt::format("the nodes offer {}", fmt::join(offers(*nodes), ", "))});
    else
      all.push_back({Kind::good, fmt::format("{}: {} nodes fit", name, fit.size()), ""});
}

void examine_queue(const Kubectl& kubectl, const std::string& lab, const PodOptions& pods, std::vector<Finding>& all) {
  std::string why;
  if (!pods.queue.empty() && !kubectl.get({"localqueues.kueue.x-k8s.io", pods.queue}, why))
    all.push_back({Kind::bad, fmt::format("{}: queue {}: {}", lab, pods.queue, why),
                   "`queue` names a LocalQueue of Kueue; without Kueue leave it out"});
}

// The server says what it would refuse: the pod's security level, quotas, names.
void examine_pod(const Kubectl& kubectl, const Course& c, const CourseLab& lab, std::vector<Finding>& all) {
  JobRequest request{.name = "ridge-doctor-" + new_nonce().substr(0, 8), .lab = lab};
  request.batch = c.shared, request.log = c.shared / "log", request.ridge = c.kubernetes.program;
  json pod = job_manifest(c, request)["spec"]["template"];
  pod["apiVersion"] = "v1", pod["kind"] = "Pod";
  pod["metadata"]["name"] = request.name;
  const fs::path file = c.shared / "doctor" / (request.name + ".json");
  make_folders(file.parent_path());
  publish(file, pod.dump(1) + "\n");
  const KubectlAnswer a = kubectl.run({"create", "--dry-run=server", "--output=name", "--filename=" + file.string()});
  std::error_code ec;
  fs::remove(file, ec);
  if (!a.good())
    all.push_back({Kind::bad, fmt::format("{}: a pod is refused: {}", lab.name, a.text), "docs/kubernetes.md"});
}

}  // namespace

void KubernetesExecutor::examine(std::vector<Finding>& all) {
  if (!examine_rights(kubectl_, course_.kubernetes, all)) return;
  all.push_back(
      {Kind::good, fmt::format("this account may run Jobs in namespace {}", course_.kubernetes.name_space), ""});
  examine_claim(kubectl_, course_.kubernetes, all);
  examine_fit(kubectl_, course_, all);
  for (const auto& [name, lab] : course_.labs) {
    examine_queue(kubectl_, name, lab.kubernetes, all);
    examine_pod(kubectl_, course_, lab, all);
  }
}

}  // namespace ridge::cluster
