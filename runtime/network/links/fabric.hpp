// The links of a cluster: GPUs on the switch of their node, the node's adapters, and the switches between nodes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::network {

struct Fabric {
  // full: the switches between nodes carry all that the adapters send. fat_tree: leaves below spines. dragonfly: groups
  // of nodes, each pair of which has a link (Kim et al. 2008), and the shortest way is taken.
  enum class Kind { full, fat_tree, dragonfly };

  std::string title;
  int gpus = 1;                  // of a node
  double node_bandwidth = 0;     // B/s of a GPU's port to the node's switch, each way, as collectives reach it
  double node_latency = 0;       // s of a message within a node
  int adapters = 1;              // of a node; GPU g has adapter g * adapters / gpus
  double adapter_bandwidth = 0;  // B/s each way, as collectives reach it
  double latency = 0;            // s of a message between nodes
  Kind kind = Kind::full;
  int unit = 0;        // nodes below a set of leaves; nodes of a dragonfly's group
  bool rails = false;  // of a fat tree: adapter i of each node of a unit is on leaf i, else all are on one leaf
  int paths = 1;       // between two leaves, each with its share; a flow takes the one that its hash says (ECMP)
  double oversubscription = 1;  // what the adapters below a leaf or in a group can send, over what leaves it
};

// The fabric with its links numbered, for so many ranks. A node has no place for more than `gpus` of them.
class Links {
 public:
  Links(const Fabric& fabric, int ranks);

  const Fabric& fabric() const { return fabric_; }
  int ranks() const { return ranks_; }
  int node_of(int rank) const { return rank / fabric_.gpus; }
  const std::vector<double>& capacities() const { return capacities_; }  // B/s
  // The links that a flow takes, and no more than 6. `hash` chooses among equal paths.
  std::vector<std::int32_t> route(int from, int to, std::uint64_t hash) const;
  double latency(int from, int to) const;

 private:
  int adapter_of(int rank) const;  // of all nodes
  int leaf_of(int adapter) const;

  Fabric fabric_;
  int ranks_, nodes_, units_ = 0, leaves_ = 0;
  int adapters_at_ = 0, uplinks_at_ = 0;  // the first link of a kind
  std::vector<double> capacities_;
};

}  // namespace ridge::network
