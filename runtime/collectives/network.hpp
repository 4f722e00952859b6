// The time of messages on a topology: latency + bytes / bandwidth ("alpha-beta", Hockney 1994), with ports that carry
// one message after another.
#pragma once
#include <cstdint>
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
  // The ports between two ranks. Small, since there is one for each pair of ranks that exchange messages.
  struct Route {
    static constexpr int kMostPorts = 8;
    std::int32_t port[kMostPorts];
    std::uint8_t count = 0;
    std::uint8_t kind = 0;  // index of what the ports cost
  };
  // Costs that all routes over the same levels have in common.
  struct Kind {
    double port_seconds_per_byte[Route::kMostPorts];
    double seconds_per_byte = 0;  // the slowest port's
    double latency = 0;
  };
  Route route(int from, int to);
  const Kind& kind(const Route& route) const { return kinds_[route.kind]; }
  // A message that is ready at `ready`. Ports serve messages in the order of these calls, and a port that is faster
  // than the slowest one on the way is busy for its own time only.
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
  std::vector<Kind> kinds_;   // 0: to oneself; then one for each top level
  std::vector<double> free_;  // the time at which a port has sent all that it was given
};

}  // namespace ridge::collectives
