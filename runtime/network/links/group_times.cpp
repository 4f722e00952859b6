#include "group_times.hpp"

#include <algorithm>
#include <cmath>

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

// Calls `flow(from, to, share, hash)` for each flow of a group's ring. Within a node a member sends all that passes it
// over its port; between nodes each of the k members there sends a k-th over its own adapter.
template <class Call>
void each_flow(const Links& links, const std::vector<int>& group, std::uint64_t hash, const Call& flow) {
  const auto nodes = by_node(links, group);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<int>& here = nodes[i];
    const std::vector<int>& next = nodes[(i + 1) % nodes.size()];
    const std::size_t inside = nodes.size() == 1 ? here.size() : here.size() - 1;
    for (std::size_t m = 0; m < inside; ++m) flow(here[m], here[(m + 1) % here.size()], 1.0, std::uint64_t{0});
    if (nodes.size() == 1) continue;
    const std::size_t channels = std::min(here.size(), next.size());
    for (std::size_t c = 0; c < channels; ++c)
      flow(here[c], next[c], 1.0 / double(channels), mixed(hash ^ mixed(static_cast<std::uint64_t>(here[c]))));
  }
}

// Seconds once around a group's ring, and of its slowest step.
void add_latency(const Links& links, const std::vector<int>& group, RingCost& cost) {
  const auto nodes = by_node(links, group);
  double around = 0;
  auto step = [&](int from, int to) {
    around += links.latency(from, to);
    cost.hop = std::max(cost.hop, links.latency(from, to));
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<int>& here = nodes[i];
    for (std::size_t m = 0; m + 1 < here.size(); ++m) step(here[m], here[m + 1]);
    step(here.back(), nodes[(i + 1) % nodes.size()].front());
  }
  cost.latency = std::max(cost.latency, around);
  cost.between_nodes = cost.between_nodes || nodes.size() > 1;
}

// Seconds of a byte of the slowest flow; `from`: the first of its kind's flows among `rates`.
double slowest(const Flows& flows, const std::vector<double>& rates, std::size_t from) {
  double seconds = 0;
  for (std::size_t f = 0; f < flows.links.size(); ++f) seconds = std::max(seconds, flows.weights[f] / rates[from + f]);
  return seconds;
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

Flows ring_flows(const Links& links, const std::vector<std::vector<int>>& groups, std::uint64_t hash) {
  Flows flows;
  for (const auto& group : groups)
    if (group.size() > 1)
      each_flow(links, group, hash, [&](int from, int to, double share, std::uint64_t path) {
        flows.links.push_back(links.route(from, to, path));
        flows.weights.push_back(share);
      });
  return flows;
}

Flows message_flows(const Links& links, const std::vector<std::pair<int, int>>& pairs, std::uint64_t hash) {
  Flows flows;
  for (const auto& [from, to] : pairs)
    flows.links.push_back(links.route(from, to, mixed(hash ^ mixed(static_cast<std::uint64_t>(from)))));
  flows.weights.assign(flows.links.size(), 1);
  return flows;
}

Slowdown slowdown(const Links& links, const Flows& first, const Flows& second) {
  if (first.links.empty() || second.links.empty()) return {};
  const double alone = slowest(first, fair_rates(links.capacities(), first.links), 0);
  const double other = slowest(second, fair_rates(links.capacities(), second.links), 0);
  std::vector<Flow> both = first.links;
  both.insert(both.end(), second.links.begin(), second.links.end());
  const std::vector<double> rates = fair_rates(links.capacities(), both);
  auto ratio = [](double beside, double before) { return before > 0 ? beside / before : 1; };
  return {ratio(slowest(first, rates, 0), alone), ratio(slowest(second, rates, first.links.size()), other)};
}

RingCost ring_cost(const Links& links, const std::vector<std::vector<int>>& groups, std::uint64_t hash) {
  RingCost cost;
  for (const auto& group : groups) {
    cost.ranks = static_cast<int>(group.size());
    if (group.size() > 1) add_latency(links, group, cost);
  }
  const Flows flows = ring_flows(links, groups, hash);
  cost.seconds_per_byte = slowest(flows, fair_rates(links.capacities(), flows.links), 0);
  return cost;
}

std::vector<MessageCost> message_costs(const Links& links, const std::vector<std::pair<int, int>>& pairs,
                                       std::uint64_t hash) {
  const std::vector<double> rates = fair_rates(links.capacities(), message_flows(links, pairs, hash).links);
  std::vector<MessageCost> costs;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    costs.push_back({rates[i], links.latency(pairs[i].first, pairs[i].second)});
  return costs;
}

}  // namespace ridge::network
