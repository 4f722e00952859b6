#include "fabric.hpp"

#include <stdexcept>

namespace ridge::network {

// Two links for each port: out, in.
Links::Links(const Fabric& fabric, int ranks) : fabric_(fabric), ranks_(ranks) {
  if (ranks < 1) throw std::invalid_argument("a fabric needs ranks");
  nodes_ = (ranks + fabric.gpus - 1) / fabric.gpus;
  capacities_.assign(2 * static_cast<std::size_t>(nodes_) * fabric.gpus, fabric.node_bandwidth);
  adapters_at_ = static_cast<int>(capacities_.size());
  capacities_.resize(capacities_.size() + 2 * static_cast<std::size_t>(nodes_) * fabric.adapters,
                     fabric.adapter_bandwidth);
  uplinks_at_ = static_cast<int>(capacities_.size());
  if (fabric.kind == Fabric::Kind::full) return;
  units_ = (nodes_ + fabric.unit - 1) / fabric.unit;
  const double sent = fabric.unit * fabric.adapters * fabric.adapter_bandwidth / fabric.oversubscription;
  if (fabric.kind == Fabric::Kind::dragonfly) {  // one link each way for each ordered pair of groups
    if (units_ > 1)
      capacities_.resize(capacities_.size() + static_cast<std::size_t>(units_) * units_, sent / (units_ - 1));
    return;
  }
  const int leaves = fabric.rails ? fabric.adapters : 1;
  leaves_ = units_ * leaves;
  capacities_.resize(capacities_.size() + 2 * static_cast<std::size_t>(leaves_) * fabric.paths,
                     sent / leaves / fabric.paths);
}

int Links::adapter_of(int rank) const {
  return node_of(rank) * fabric_.adapters + rank % fabric_.gpus * fabric_.adapters / fabric_.gpus;
}

int Links::leaf_of(int adapter) const {
  const int unit = adapter / fabric_.adapters / fabric_.unit;
  return fabric_.rails ? unit * fabric_.adapters + adapter % fabric_.adapters : unit;
}

std::vector<std::int32_t> Links::route(int from, int to, std::uint64_t hash) const {
  if (from == to) return {};
  if (node_of(from) == node_of(to)) return {2 * from, 2 * to + 1};
  std::vector<std::int32_t> way;
  int out = adapter_of(from);
  const int in = adapter_of(to), rail = in % fabric_.adapters;
  if (fabric_.rails && out % fabric_.adapters != rail) {  // through the node's switch to the receiver's rail
    out = node_of(from) * fabric_.adapters + rail;
    way.push_back(2 * from);
  }
  way.push_back(adapters_at_ + 2 * out);
  if (fabric_.kind == Fabric::Kind::dragonfly) {
    const int a = node_of(from) / fabric_.unit, b = node_of(to) / fabric_.unit;
    if (a != b) way.push_back(uplinks_at_ + a * units_ + b);
  } else if (fabric_.kind == Fabric::Kind::fat_tree && leaf_of(out) != leaf_of(in)) {
    const int path = static_cast<int>(hash % static_cast<std::uint64_t>(fabric_.paths));
    way.push_back(uplinks_at_ + 2 * (leaf_of(out) * fabric_.paths + path));
    way.push_back(uplinks_at_ + 2 * (leaf_of(in) * fabric_.paths + path) + 1);
  }
  way.push_back(adapters_at_ + 2 * in + 1);
  return way;
}

double Links::latency(int from, int to) const {
  return from == to ? 0 : node_of(from) == node_of(to) ? fabric_.node_latency : fabric_.latency;
}

}  // namespace ridge::network
