// The outcome of a simulation, or the reason that there is none.
#include <algorithm>
#include <utility>

#include "simulation_engine.hpp"

namespace ridge::collectives {

Outcome Simulation::outcome() const {
  Outcome o;
  o.messages = messages_;
  for (const Rank* r : ranks_) {
    double end = r->host_;
    for (int k = 0; k < Rank::kStreams; ++k) end = std::max(end, streams_[id_of(*r, k)].clock);
    o.rank_seconds.push_back(end);
    o.bytes_sent.push_back(r->state_->bytes_sent);
    o.seconds = std::max(o.seconds, end);
  }
  return o;
}

std::string Simulation::stuck() const {
  std::string text = "nothing can go on";
  int named = 0, more = 0;
  std::vector<std::pair<Ends, const Channel*>> in_order;
  for (std::size_t c = 0; c < channels_.size(); ++c)
    if (channels_[c].any) in_order.emplace_back(ends_[c], &channels_[c]);
  std::sort(in_order.begin(), in_order.end());
  for (const auto& [ends, c] : in_order) {
    if (++named > 4) {
      ++more;
      continue;
    }
    const std::string from = std::to_string(ends.from), to = std::to_string(ends.to);
    const std::string number = std::to_string(c->messages + 1);
    text += c->sends
                ? "; rank " + from + " waits to send message " + number + " to rank " + to + ", which never asks for it"
                : "; rank " + to + " waits for message " + number + " from rank " + from + ", which never sends it";
  }
  if (more != 0) text += "; and " + std::to_string(more) + " more";
  if (named == 0) text += ": streams wait for events that are never recorded";
  return text;
}

}  // namespace ridge::collectives
