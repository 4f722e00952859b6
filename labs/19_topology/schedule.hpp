// Task `schedule`: orders and paths for given transfers over a fat tree or a dragonfly. On the host.
#pragma once
#include <cstdint>

// Each node has one port to the network. `unit` nodes share a leaf switch (fat tree) or are a group (dragonfly), whose
// nodes are joined without a bottleneck.
struct Network {
  bool dragonfly;
  int units, unit;  // leaves or groups; nodes of one
  int paths;        // of a fat tree: spine switches, each with one link to each leaf
  double port;      // B/s of a node's port, each way
  double link;      // B/s each way between a leaf and a spine, or between two groups; each two groups have one link
  int nodes() const { return units * unit; }
};

struct Transfer {
  int from, to;  // nodes; from != to
  std::int64_t bytes;
};

// A transfer's path is 0 to paths - 1, the spine that it takes; in a dragonfly it is a group that it passes, 0 to
// units - 1, where the sender's or the receiver's own group means the direct link. Within a unit it does not matter.
inline int paths_of(const Network& n) { return n.dragonfly ? n.units : n.paths; }

// Links are numbered: 2 i out of node i, 2 i + 1 into it; then of a fat tree from leaf u up to spine s, and down from
// s to u; of a dragonfly from group a to group b.
inline int up_link(const Network& n, int u, int s) { return 2 * (n.nodes() + u * n.paths + s); }
inline int down_link(const Network& n, int s, int u) { return up_link(n, u, s) + 1; }
inline int global_link(const Network& n, int a, int b) { return 2 * n.nodes() + a * n.units + b; }
inline int links(const Network& n) { return 2 * n.nodes() + (n.dragonfly ? n.units : 2 * n.paths) * n.units; }
inline double capacity(const Network& n, int link) { return link < 2 * n.nodes() ? n.port : n.link; }
// Writes the links that a transfer takes over a path, at most 4, and returns their number.
int links_of(const Network& network, const Transfer& transfer, int path, int* links);

// Writes for each link the seconds that it needs for all bytes that take it, if transfer i takes path[i]. No order is
// faster than the largest of them. seconds: links(network) numbers.
void busy_seconds(const Network& network, const Transfer* transfers, int count, const int* path, double* seconds);

// Writes an order and a path for each transfer. A node begins its transfers by ascending order[i]; of equal orders the
// lower i comes first. It has kAtOnce on the way at once, and begins the next one when one ends. Nodes do not wait for
// each other, and transfers that share a link share it fairly (max-min). What counts is when the last one ends.
constexpr int kAtOnce = 4;
void schedule(const Network& network, const Transfer* transfers, int count, int* order, int* path);
