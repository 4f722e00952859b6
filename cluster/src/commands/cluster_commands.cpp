#include "cluster/src/commands/cluster_commands.hpp"

#include "cluster/src/commands/registry.hpp"

namespace ridge::cluster {

void add_commands(Commands& ridge) {
  Registry cluster(ridge);
  add_grading(cluster);
  add_status(cluster);
  add_decisions(cluster);
  add_reading(cluster);
  add_similar(cluster);
  add_machines(cluster);
  add_keeping(cluster);
  add_forget(cluster);
  add_array_task(cluster);
  add_submit(ridge);
}

}  // namespace ridge::cluster
