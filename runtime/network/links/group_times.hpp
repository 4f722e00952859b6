// The time of a collective when all groups of one kind run it at once, over the links that they share.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric.hpp"
#include "flows.hpp"

namespace ridge::network {

// A ring through the ranks in their order, with a channel for each member that the group has in a node, as NCCL makes
// its rings. Costs of the slowest group.
struct RingCost {
  int ranks = 1;
  double seconds_per_byte = 0;  // of what passes each rank
  double latency = 0;           // s once around the ring
  double hop = 0;               // s of its slowest step
  bool between_nodes = false;

  // n: bytes of the whole vector.
  double reduce_scatter(double n) const;
  double all_gather(double n) const { return reduce_scatter(n); }
  double all_reduce(double n) const;  // the ring or a tree, whichever is faster
};

// The flows of messages of one kind, and the share of a message's bytes that each carries.
struct Flows {
  std::vector<Flow> links;
  std::vector<double> weights;
};
Flows ring_flows(const Links& links, const std::vector<std::vector<int>>& groups, std::uint64_t hash);
Flows message_flows(const Links& links, const std::vector<std::pair<int, int>>& pairs, std::uint64_t hash);
// How many times as long messages of each kind take while both kinds send, the slowest of each; 1 without shared links.
struct Slowdown {
  double first = 1, second = 1;
};
Slowdown slowdown(const Links& links, const Flows& first, const Flows& second);

// `groups`: ranks of each group, all groups of one size. `hash` chooses the paths of flows.
RingCost ring_cost(const Links& links, const std::vector<std::vector<int>>& groups, std::uint64_t hash);

// A message from one rank to another, while all the other pairs exchange theirs.
struct MessageCost {
  double bandwidth = 0, latency = 0;  // B/s, s
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};
std::vector<MessageCost> message_costs(const Links& links, const std::vector<std::pair<int, int>>& pairs,
                                       std::uint64_t hash);

}  // namespace ridge::network
