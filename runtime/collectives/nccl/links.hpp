// The links between ranks, for virtual time: those of the device profile, or of a topology.
#pragma once
#include "communicator.hpp"

namespace ridge::collectives {

struct Link {
  double latency = 0, seconds_per_byte = 0;
};

// Joins judged ranks by topologies/NAME.toml, with `node` ranks in a group of its first level (0: as in the file), or
// by the device profile where the name is empty. False where there is no such topology, or no room in it.
bool set_links(const char* topology, int node, int ranks);
// The link between two ranks while it is idle: contention with other messages is not in it.
Link link_between(const ncclComm& comm, int a, int b);

}  // namespace ridge::collectives
