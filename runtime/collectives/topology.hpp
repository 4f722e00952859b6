// The links that join ranks: a tree of levels, from a file.
//
// A group of the first level has `size` ranks, one of the next `size` groups of the first, and so on. Each member has a
// port to its group. A message climbs to the lowest level that both ends have in common and takes the ports on both
// sides.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::collectives {

struct Level {
  std::string name;
  int size = 0;           // members of a group; 0: all (the last level)
  double bandwidth = 0;   // B/s of a member's port in each direction
  double latency = 0;     // s from end to end, for messages whose lowest common level this is
  bool per_rank = false;  // each rank has a port of its own here, in place of one for each member
  bool inside = false;    // the ports carry only messages that stay below this level
};

struct Topology {
  std::string title;
  std::vector<Level> levels;  // the level of the ranks comes first

  // Ranks that fit; 0: any number.
  int capacity() const;
};

// The format is that of topologies/*.toml. False: `error` names the line and what is wrong there.
bool parse_topology(std::string_view toml, Topology& topology, std::string& error);
// One of topologies/ by its name without ".toml", as text; empty where there is none.
std::string_view built_in_topology(std::string_view name);
std::vector<std::string> built_in_topologies();

}  // namespace ridge::collectives
