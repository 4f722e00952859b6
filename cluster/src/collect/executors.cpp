#include "cluster/src/collect/executors.hpp"

#include "cluster/src/kubernetes/kubernetes_executor.hpp"
#include "cluster/src/slurm/slurm_executor.hpp"

namespace ridge::cluster {

std::unique_ptr<Executor> make_executor(const Course& course) {
  if (course.executor == "kubernetes") return std::make_unique<KubernetesExecutor>(course);
  return std::make_unique<SlurmExecutor>(course);
}

}  // namespace ridge::cluster
