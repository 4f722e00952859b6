#include "network.hpp"

#include <algorithm>
#include <stdexcept>

namespace ridge::collectives {

Network::Network(const Topology& topology, int ranks) : ranks_(ranks) {
  if (ranks < 1) throw std::invalid_argument("a network needs a rank");
  const int room = topology.capacity();
  if (room != 0 && ranks > room)
    throw std::invalid_argument("'" + topology.title + "' has room for " + std::to_string(room) + " ranks, not " +
                                std::to_string(ranks));
  if (topology.levels.size() > Route::kMostPorts / 2) throw std::invalid_argument("a topology has 4 levels at most");
  int stride = 1, ports = 0;
  for (const Level& l : topology.levels) {
    Ports p;
    p.first = ports;
    p.stride = l.per_rank ? 1 : stride;
    p.group = l.size == 0 ? ranks : stride * l.size;
    p.seconds_per_byte = 1 / l.bandwidth;
    p.latency = l.latency;
    p.inside = l.inside;
    ports += 2 * ((ranks + p.stride - 1) / p.stride);
    stride = p.group;
    levels_.push_back(p);
    if (stride >= ranks) break;  // the levels beyond join nothing
  }
  free_.resize(static_cast<std::size_t>(ports));
  kinds_.resize(levels_.size() + 1);
}

Network::Route Network::route(int from, int to) {
  Route r;
  if (from == to) return r;
  std::size_t top = 0;
  while (from / levels_[top].group != to / levels_[top].group) ++top;
  r.kind = static_cast<std::uint8_t>(top + 1);
  Kind& kind = kinds_[top + 1];
  kind.latency = levels_[top].latency;
  for (std::size_t l = 0; l <= top; ++l) {
    const Ports& p = levels_[l];
    if (l != top && p.inside) continue;
    for (int port : {p.first + 2 * (from / p.stride), p.first + 2 * (to / p.stride) + 1}) {
      r.port[r.count] = port;
      kind.port_seconds_per_byte[r.count++] = p.seconds_per_byte;
    }
    kind.seconds_per_byte = std::max(kind.seconds_per_byte, p.seconds_per_byte);
  }
  return r;
}

Transfer Network::transfer(const Route& route, double bytes, double ready) {
  const Kind& kind = kinds_[route.kind];
  double start = ready;
  for (int i = 0; i < route.count; ++i) start = std::max(start, free_[static_cast<std::size_t>(route.port[i])]);
  for (int i = 0; i < route.count; ++i)
    free_[static_cast<std::size_t>(route.port[i])] = start + bytes * kind.port_seconds_per_byte[i];
  const double sent = start + bytes * kind.seconds_per_byte;
  return {start, sent, sent + kind.latency};
}

void Network::reset() { std::fill(free_.begin(), free_.end(), 0.0); }

}  // namespace ridge::collectives
