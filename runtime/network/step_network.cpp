#include "step_network.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ridge::network {

StepNetwork step_network(const Links& links, const Transformer& m, const Layout& l, std::uint64_t seed) {
  StepNetwork n;
  Flows data;
  if (l.data > 1) {
    const auto groups = data_groups(l);
    n.data = ring_cost(links, groups, seed + 1);
    data = ring_flows(links, groups, seed + 1);
  }
  if (l.tensor > 1) {
    const auto groups = tensor_groups(l);
    n.tensor = ring_cost(links, groups, seed);
    if (l.data > 1) n.tensor_beside_data = slowdown(links, ring_flows(links, groups, seed), data);
  }
  if (l.pipeline == 1) return n;
  n.stage_bytes = kBf16 * l.micro_batch * m.sequence * m.hidden / l.tensor;
  std::vector<std::pair<int, int>> pairs;
  std::vector<std::vector<int>> ends;
  for (int r = 0; r < l.ranks(); ++r) {
    Place to = place_of(l, r);
    if (to.pipeline == 0) ends.push_back({r, rank_of(l, {to.data, l.pipeline - 1, to.tensor})});
    to.pipeline = (to.pipeline + 1) % l.pipeline;
    if (to.pipeline != 0 || l.chunks > 1) pairs.emplace_back(r, rank_of(l, to));
  }
  // All replicas wait for the slowest at the end of the step, so that one alone is simulated.
  for (const MessageCost& c : message_costs(links, pairs, seed + 2))
    n.stage_seconds = std::max(n.stage_seconds, c.seconds(n.stage_bytes));
  if (l.data > 1) n.stages_beside_data = slowdown(links, message_flows(links, pairs, seed + 2), data);
  if (m.tied) n.ends = ring_cost(links, ends, seed + 3);
  return n;
}

}  // namespace ridge::network
