#include "cluster/src/base/course_kubernetes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "grader/base/error.hpp"

namespace ridge::cluster {

void read_pods(Table& t, PodOptions& p) {
  t.get("image", p.image), t.get("queue", p.queue), t.get("priority", p.priority), t.get("memory", p.memory);
  t.get("cpus", p.cpus), t.get("resources", p.resources), t.get("node_selector", p.node_selector);
  t.get("tolerations", p.tolerations), t.get("patch", p.patch);
  t.done();
}

void read_kubernetes(Table& t, Course& c, PodOptions& p) {
  KubernetesCluster& k = c.kubernetes;
  t.get("context", k.context), t.get("namespace", k.name_space), t.get("claim", k.claim);
  t.get("claim_path", k.claim_path), t.get("secret", k.secret), t.get("program", k.program);
  t.get("user", k.user), t.get("keep_hours", k.keep_hours);
  t.get("sandbox", k.sandbox);
  if (k.sandbox != "user-namespace" && k.sandbox != "sys-admin")
    throw Error(Exit::usage, fmt::format("{}: [kubernetes]: there is no sandbox '{}'", shown(c.file), k.sandbox),
                "sandbox = \"user-namespace\" (the default) or \"sys-admin\": docs/kubernetes.md says which");
  read_pods(t, p);
  if (k.user < 0) k.user = k.sandbox == "sys-admin" ? 0 : static_cast<int>(geteuid());
}

void require_pods(const Course& c, const CourseLab& lab, const std::string& key) {
  auto refuse = [&](const std::string& what, const std::string& advice) {
    throw Error(Exit::usage, fmt::format("{}: [labs.{}]: {}", shown(c.file), key, what), advice);
  };
  if (lab.kubernetes.image.empty())
    refuse("`executor` is kubernetes, and no `image` is named", "set `image` in [kubernetes]: docs/kubernetes.md");
  if (lab.slurm.nodes > 1)
    refuse("`nodes` is above 1, which is for Slurm", "docs/kubernetes.md: \"Ranks on several nodes\"");
  const auto& resources = lab.kubernetes.resources;
  const bool gpu =
      std::any_of(resources.begin(), resources.end(), [](const auto& r) { return r.first.starts_with("nvidia.com/"); });
  if (lab.backend == lab::Backend::cuda && !gpu)
    refuse("the backend is cuda, and no `resources` ask for a GPU",
           "set resources = {\"nvidia.com/gpu\" = 1} in [kubernetes]");
}

}  // namespace ridge::cluster
