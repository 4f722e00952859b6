#include "cluster/src/jobs/probe.hpp"

#include <fmt/format.h>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge::cluster {

int probe(const fs::path& batch) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", node_name(), wall_now(), read_regular(batch / "word", 4096).value_or(""));
  for (const auto& layer : sandbox_report())
    if (layer.required && !layer.on) text += fmt::format("the sandbox lacks {}: {}\n", layer.name, layer.reason);
  publish(batch / "answer", text);
  return 0;
}

}  // namespace ridge::cluster
