// Streams do their operations, and messages meet.
#include <algorithm>
#include <utility>

#include "simulation_engine.hpp"

namespace ridge::collectives {

// Takes what can be done at the stream's front, up to a group, which is ready then.
void Simulation::advance(std::uint64_t id) {
  Stream& st = streams_[id];
  while (!st.posted && !st.operations.empty()) {
    const Operation& op = st.operations.front();
    double start = std::max(st.clock, op.issued);
    const OperationKind kind = op.kind;
    if (kind == OperationKind::group) {
      st.posted = true;
      ready_.push(ready_at(start, id));
      return;
    }
    std::vector<std::uint64_t> released;
    if (kind == OperationKind::kernel) {
      start += op.amount[0];
    } else {
      Rank::State::Event& e = ranks_[rank_of(id)]->state_->events[op.number];
      if (kind == OperationKind::record) {
        e.time = start;
        e.done = true;
        released.swap(e.waiting);
      } else if (!e.done) {
        e.waiting.push_back(id);
        return;
      } else {
        start = std::max(start, e.time);
      }
    }
    st.clock = start;
    st.operations.pop();
    done(id);
    for (std::uint64_t other : released) advance(other);
  }
}

void Simulation::done(std::uint64_t id) {
  const std::size_t rank = rank_of(id);
  --loads_[rank].queued;
  if (loads_[rank].may_resume()) touched_.push_back(rank);
}

// The group at the stream's front begins: its messages meet their other ends, or wait for them.
void Simulation::post(std::uint64_t id, double time) {
  Stream& st = streams_[id];
  Operation op = st.operations.front();
  st.operations.pop();
  st.ends = time;
  st.open = op.messages + (op.goes_on ? 1 : 0);  // operations that continue it keep the group open
  if (op.messages == 0) return end_group(id, st);
  for (;;) {
    meet(id, {op.amount[0], op.number, op.sends}, time);
    if (op.messages == 2) meet(id, {op.amount[1], op.second_number, op.second_sends}, time);
    if (!op.goes_on) return;
    op = st.operations.front();
    st.operations.pop();
    st.open += op.messages - (op.goes_on ? 0 : 1);
  }
}

void Simulation::meet(std::uint64_t id, const Part& part, double time) {
  Channel& c = channels_[part.channel];
  if (!c.any || c.sends == part.sends) return wait(c, part, {time, part.bytes, static_cast<std::uint32_t>(id)});
  const Waiting other{c.ready, c.bytes, c.stream};
  c.any = c.more;
  if (c.more) next_of(c, part.channel);
  ++c.messages;
  ++messages_;
  if (other.bytes != part.bytes) differ(part, other.bytes);
  const Transfer t = network_.transfer(c.route, part.bytes, std::max(time, other.ready));
  end_part(part.sends ? id : other.stream, t.sent);
  end_part(part.sends ? other.stream : id, t.end);
}

void Simulation::wait(Channel& c, const Part& part, const Waiting& w) {
  c.sends = part.sends;
  if (c.any) {
    c.more = true;
    return more_[part.channel].push_back(w);
  }
  c.any = true;
  c.ready = w.ready, c.bytes = w.bytes, c.stream = w.stream;
}

void Simulation::next_of(Channel& c, std::uint32_t number) {
  std::deque<Waiting>& queue = more_[number];
  const Waiting w = queue.front();
  queue.pop_front();
  c.ready = w.ready, c.bytes = w.bytes, c.stream = w.stream;
  c.more = !queue.empty();
}

void Simulation::end_part(std::uint64_t id, double time) {
  Stream& st = streams_[id];
  st.ends = std::max(st.ends, time);
  if (--st.open == 0) end_group(id, st);
}

void Simulation::end_group(std::uint64_t id, Stream& st) {
  st.clock = st.ends;
  st.posted = false;
  done(id);
  advance(id);
}

// The channel between a rank and `peer`, which is made when it is first used.
std::uint32_t Simulation::channel(Rank& rank, int peer, bool sends) {
  Rank::State::Known& last = rank.state_->last[sends ? 0 : 1];
  if (last.peer == peer) return last.channel;
  const int from = sends ? rank.rank_ : peer, to = sends ? peer : rank.rank_;
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
  auto [at, fresh] = channel_of_.try_emplace(key, static_cast<std::uint32_t>(channels_.size()));
  if (fresh) {
    if (channels_.size() > Operation::kMostNumber) throw std::length_error("too many pairs of ranks");
    channels_.emplace_back();
    channels_.back().route = network_.route(from, to);
    ends_.push_back({from, to});
  }
  last = {peer, at->second};
  return at->second;
}

void Simulation::differ(const Part& part, double other_bytes) const {
  const Ends& ends = ends_[part.channel];
  const double sent = part.sends ? part.bytes : other_bytes, expected = part.sends ? other_bytes : part.bytes;
  throw std::invalid_argument("message " + std::to_string(channels_[part.channel].messages) + " from rank " +
                              std::to_string(ends.from) + " to rank " + std::to_string(ends.to) + " has " +
                              std::to_string(std::int64_t(sent)) + " bytes, and " +
                              std::to_string(std::int64_t(expected)) + " are expected");
}

}  // namespace ridge::collectives
