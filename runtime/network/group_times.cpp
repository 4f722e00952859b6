#include "group_times.hpp"

#include <algorithm>
#include <cmath>

#include "flows.hpp"

namespace ridge::network {

namespace {

// A different path for each flow, and the same in every run.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// The members of a group by node, in the order in which the ring meets the nodes.
std::vector<std::vector<int>> by_node(const Links& links, const std::vector<int>& group) {
  std::vector<std::vector<int>> nodes;
  for (int rank : group) {
    if (nodes.empty() || links.node_of(nodes.back().front()) != links.node_of(rank)) nodes.emplace_back();
    nodes.back().push_back(rank);
  }
  return nodes;
}

}  // namespace

double RingCost::reduce_scatter(double n) const {
  if (ranks < 2) return 0;
  return latency * (ranks - 1) / ranks + n * (ranks - 1) / ranks * seconds_per_byte;
}

double RingCost::all_reduce(double n) const {
  if (ranks < 2) return 0;
  const double tree = 2 * std::ceil(std::log2(ranks)) * hop + 2 * n * seconds_per_byte;
  return std::min(2 * reduce_scatter(n), tree);
}

// Within a node a member sends all that passes it over its port; between nodes each of the k members there sends a k-th
// over its own adapter.
RingCost ring_cost(const Links& links, const std::vector<std::vector<int>>& groups, std::uint64_t hash) {
  RingCost cost;
  std::vector<Flow> flows;
  std::vector<double> weights;  // of a flow: the share of the ring's bytes that it carries
  for (const auto& group : groups) {
    cost.ranks = static_cast<int>(group.size());
    if (group.size() < 2) continue;
    const auto nodes = by_node(links, group);
    double around = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<int>& here = nodes[i];
      const std::vector<int>& next = nodes[(i + 1) % nodes.size()];
      const std::size_t inside = nodes.size() == 1 ? here.size() : here.size() - 1;
      for (std::size_t m = 0; m < inside; ++m) {
        const int from = here[m], to = here[(m + 1) % here.size()];
        flows.push_back(links.route(from, to, 0)), weights.push_back(1);
        around += links.latency(from, to);
        cost.hop = std::max(cost.hop, links.latency(from, to));
      }
      if (nodes.size() == 1) continue;
      const std::size_t channels = std::min(here.size(), next.size());
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint64_t flow = mixed(hash ^ mixed(static_cast<std::uint64_t>(here[c])));
        flows.push_back(links.route(here[c], next[c], flow)), weights.push_back(1.0 / double(channels));
      }
      around += links.latency(here.back(), next.front());
      cost.hop = std::max(cost.hop, links.latency(here.back(), next.front()));
      cost.between_nodes = true;
    }
    cost.latency = std::max(cost.latency, around);
  }
  const std::vector<double> rates = fair_rates(links.capacities(), flows);
  for (std::size_t f = 0; f < flows.size(); ++f)
    cost.seconds_per_byte = std::max(cost.seconds_per_byte, weights[f] / rates[f]);
  return cost;
}

std::vector<MessageCost> message_costs(const Links& links, const std::vector<std::pair<int, int>>& pairs,
                                       std::uint64_t hash) {
  std::vector<Flow> flows;
  for (const auto& [from, to] : pairs)
    flows.push_back(links.route(from, to, mixed(hash ^ mixed(static_cast<std::uint64_t>(from)))));
  const std::vector<double> rates = fair_rates(links.capacities(), flows);
  std::vector<MessageCost> costs;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    costs.push_back({rates[i], links.latency(pairs[i].first, pairs[i].second)});
  return costs;
}

}  // namespace ridge::network
