// Task `place`: which GPU of a cluster each rank gets, so that slow links carry little. On the host.
#pragma once
#include <cstdint>

#include "groups.hpp"

// GPUs are numbered node by node. A container of level l has the GPUs a with the same a / gpus[l].
//   a fat tree   gpus[0]: in a node; gpus[1]: below a leaf switch; gpus[2]: in a pod, below one set of spines; gpus[3]:
//                below the core
//   a dragonfly  gpus[0]: in a node; gpus[1]: in a group, all of whose nodes are linked; gpus[2]: all. Bytes between
//                two groups count as one level, whichever global link they take
//   rails        gpus[0]: in a node; gpus[1]: all. GPU i of each node is on rail i, a switch of its own
struct Cluster {
  int containers;  // 1 to 4, of each size
  int gpus[4];     // GPUs in one of them, ascending; the last is all of them
  bool rails;
};

// Levels of links, from the fastest: 0 within a node, 1 between nodes that share a container of level 1, and so on.
// With rails, 1 is between GPUs on the same rail, and 2 from rail to rail, over spine switches.
constexpr int kMostLevels = 4;
inline int levels_of(const Cluster& c) { return c.rails ? 3 : c.containers; }
inline int level_of(const Cluster& c, int a, int b) {
  if (c.rails && a / c.gpus[0] != b / c.gpus[0]) return a % c.gpus[0] == b % c.gpus[0] ? 1 : 2;
  int level = 0;
  while (a / c.gpus[level] != b / c.gpus[level]) ++level;
  return level;
}

// Bytes of one training step.
struct Traffic {
  // That each member of such a group sends to the next one, the last to the first; a group of one sends none.
  std::int64_t tensor, data;
  // That a rank sends to the next stage, and the next stage sends back. The last stage has no next one.
  std::int64_t pipeline;
};

// Bytes that all ranks send over links of each level, if rank r has GPU gpu_of[r]. bytes: levels_of(cluster) numbers.
void bytes_by_level(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, const int* gpu_of,
                    std::int64_t* bytes);

// Writes to gpu_of a GPU for each rank, each GPU once, so that the slowest level carries as few bytes as possible; of
// those mappings the next level as few as possible, and so on. Sizes, gpus[0] and all ratios of containers are powers
// of two, and there are as many GPUs as ranks, at most 256.
void place(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, int* gpu_of);
