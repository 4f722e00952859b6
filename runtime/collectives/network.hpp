// The time of messages on a topology: latency + bytes / bandwidth ("alpha-beta", Hockney 1994), with ports that carry one
// message after another.
#pragma once
#include <vector>

#include "topology.hpp"

namespace ridge::collectives {

struct Transfer {
  double start = 0;  // when its first byte leaves
  double sent = 0;   // when its last byte has left
  double end = 0;    // when its last byte has arrived
};

class Network {
 public:
  // Throws std::invalid_argument where the topology has no room for so many ranks.
  Network(const Topology& topology, int ranks);

  int ranks() const { return ranks_; }
  // The ports between two ranks, for messages of which there are many.
  struct Route {
    static constexpr int kMostPorts = 16;
    int count = 0;
    int port[kMostPorts];
    double port_seconds_per_byte[kMostPorts];
    double seconds_per_byte = 0;  // of the slowest
    double latency = 0;
  };
  Route route(int from, int to) const;
  // A message that is ready at `ready`. Ports serve messages in the order of these calls, and a port that is faster than
  // the slowest one on the way is busy for its own time only.
  Transfer transfer(const Route& route, double bytes, double ready);
  Transfer transfer(int from, int to, double bytes, double ready) { return transfer(route(from, to), bytes, ready); }
  void reset();

 private:
  struct Ports {
    int first = 0;   // index of the first member's pair of ports: out, in
    int stride = 1;  // ranks of a member
    int group = 1;   // ranks of a group
    double seconds_per_byte = 0, latency = 0;
    bool inside = false;
  };

  int ranks_;
  std::vector<Ports> levels_;
  std::vector<double> free_;  // when a port has sent what it was given
};

}  // namespace ridge::collectives
