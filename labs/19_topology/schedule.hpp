// Task `schedule`: orders and paths for given transfers over a fat tree or a dragonfly. On the host.
#pragma once
#include <cstdint>

// Each node has one port to the network. The nodes of a unit share a leaf switch (fat tree) or are a group (dragonfly);
// within a unit only their ports limit transfers.
struct Network {
  bool dragonfly;
  int units;    // number of leaves or of groups
  int unit;     // nodes per leaf or per group
  int paths;    // spine switches of a fat tree, each with one link to each leaf
  double port;  // B/s of a node's port, each way
  double link;  // B/s each way between a leaf and a spine, or between two groups; each two groups have one link
  int nodes() const { return units * unit; }
};

struct Transfer {
  int from, to;  // nodes; from != to
  std::int64_t bytes;
};

// The path of a transfer in a fat tree is the spine that it takes, 0 to paths - 1. In a dragonfly it is the group that it
// passes on the way, 0 to units - 1 (a non-minimal route); the sender's or the receiver's own group means the direct
// link. A transfer within a unit takes the two ports alone, whatever its path.
inline int paths_of(const Network& n) { return n.dragonfly ? n.units : n.paths; }

// Numbers of links: 2 i leads out of node i, and 2 i + 1 into it. The links of a fat tree follow, up from leaf u to
// spine s and down from s to u; or those of a dragonfly, from group a to group b.
inline int up_link(const Network& n, int u, int s) { return 2 * (n.nodes() + u * n.paths + s); }
inline int down_link(const Network& n, int s, int u) { return up_link(n, u, s) + 1; }
inline int global_link(const Network& n, int a, int b) { return 2 * n.nodes() + a * n.units + b; }
inline int links(const Network& n) { return 2 * n.nodes() + (n.dragonfly ? n.units : 2 * n.paths) * n.units; }
inline double capacity(const Network& n, int link) { return link < 2 * n.nodes() ? n.port : n.link; }
// Writes the links that a transfer takes over a path, at most 4 and in any order, and returns their number.
int links_of(const Network& network, const Transfer& transfer, int path, int* links);

// Writes each link's busy time: the bytes of all transfers that take it, over its capacity, if transfer i takes path[i].
// No order is faster than the largest busy time. seconds: links(network) numbers.
void busy_seconds(const Network& network, const Transfer* transfers, int count, const int* path, double* seconds);

// Writes an order and a path for each transfer. A node begins its transfers by ascending order[i]; of equal orders the
// lower i comes first. It has kAtOnce transfers on the way at a time, and begins the next one when one of them ends.
// Nodes do not wait for each other, and transfers that share a link share it fairly (max-min). The last transfer should
// end as early as possible. There are up to 35 nodes and 1190 transfers; one second of the host is enough.
constexpr int kAtOnce = 4;
void schedule(const Network& network, const Transfer* transfers, int count, int* order, int* path);
