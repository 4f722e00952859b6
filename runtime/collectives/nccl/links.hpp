// The links between ranks, for virtual time: as the device profile has them between two devices, or of a topology.
#pragma once
#include "communicator.hpp"

namespace ridge::collectives {

struct Link {
  double latency = 0, seconds_per_byte = 0;
};

// From now on judged ranks are joined as in topologies/NAME.toml, with `node` ranks in a group of its first level (0:
// as there). An empty name: as in the device profile. False: there is no such topology, or no room in it.
bool set_links(const char* topology, int node, int ranks);
// On idle links: what they share with other messages is not in it.
Link link_between(const ncclComm& comm, int a, int b);

}  // namespace ridge::collectives
