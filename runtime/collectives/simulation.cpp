#include "simulation.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_map>
#include <utility>

#include "simt/src/fiber.hpp"

namespace ridge::collectives {

namespace {

// As many as CUDA takes before a launch blocks; the host goes on when half of them are done.
constexpr std::size_t kMostQueued = 1024;
constexpr std::size_t kStackBytes = 64 * 1024;

void check_stream(int stream) {
  if (stream < 0 || stream >= Rank::kStreams)
    throw std::invalid_argument("there is no stream " + std::to_string(stream));
}

struct Part {
  int peer;
  bool send;
  double bytes;
};

enum class Kind : std::uint8_t { group, kernel, record, wait };

struct Operation {
  Kind kind;
  std::uint32_t first = 0, count = 0;  // parts of a group
  int event = 0;
  double issued = 0, seconds = 0;
};

// A queue that is appended at the end and read at the front.
template <class T>
class Queue {
 public:
  bool empty() const { return first_ == items_.size(); }
  T& front() { return items_[first_]; }
  void push(const T& item) { items_.push_back(item); }
  void pop() {
    if (++first_ < 256 || first_ * 2 < items_.size()) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
};

struct Stream {
  Queue<Operation> operations;
  Queue<Part> parts;       // of its groups, in order
  double clock = 0;        // end of what has ended
  double ends = 0;         // of the parts of the running group that have ended
  std::uint32_t open = 0;  // its parts that have not
  bool posted = false;     // in the heap, or waiting for peers
};

// A group that can begin: its time (as bits, which order like the number where it is not negative), then rank and stream,
// so that the order never depends on the heap. One number, because comparing it takes no branch.
__extension__ using Ready = unsigned __int128;
Ready ready_at(double time, std::uint64_t rank, int stream) {
  std::uint64_t bits;
  std::memcpy(&bits, &time, sizeof bits);
  return Ready{bits} << 64 | (rank * Rank::kStreams + static_cast<std::uint64_t>(stream));
}
double time_of(Ready r) {
  const auto bits = static_cast<std::uint64_t>(r >> 64);
  double time;
  std::memcpy(&time, &bits, sizeof time);
  return time;
}

// A heap with four children a node, which lie in one or two cache lines: twice as fast here as std::priority_queue.
class Heap {
 public:
  bool empty() const { return items_.empty(); }
  void push(Ready item) {
    std::size_t at = items_.size();
    items_.push_back(item);
    while (at != 0 && item < items_[(at - 1) / 4]) {
      items_[at] = items_[(at - 1) / 4];
      at = (at - 1) / 4;
    }
    items_[at] = item;
  }
  Ready pop() {
    const Ready top = items_.front(), last = items_.back();
    items_.pop_back();
    const std::size_t size = items_.size();
    std::size_t at = 0;
    while (4 * at + 1 < size) {
      std::size_t least = 4 * at + 1;
      for (std::size_t c = least + 1, end = std::min(4 * at + 5, size); c < end; ++c)
        if (items_[c] < items_[least]) least = c;
      if (!(items_[least] < last)) break;
      items_[at] = items_[least];
      at = least;
    }
    if (size != 0) items_[at] = last;
    return top;
  }

 private:
  std::vector<Ready> items_;
};

// One end of messages from a rank to `peer`, of which the other has not come yet.
struct Waiting {
  double ready, bytes;
  int stream;  // of the rank that waits
};
struct Channel {
  int peer;
  bool sends = false;  // who waits: sends or receives
  Network::Route route;
  Queue<Waiting> waiting;
  std::uint64_t messages = 0;
};

struct Event {
  double time = 0;
  bool done = false;
  std::vector<int> waiting;  // streams
};

}  // namespace

struct Rank::State {
  Stream streams[kStreams];
  std::vector<Part> group;  // that is being built
  int group_depth = 0;
  std::vector<Event> events;
  std::vector<Channel> channels;  // messages from this rank
  std::unordered_map<int, std::size_t> channel_of;
  std::size_t queued = 0, last_channel = 0;
  double bytes_sent = 0;

  simt::Fiber fiber;
  std::unique_ptr<char[]> stack;
  bool finished = false, synchronizing = false, throttled = false;

  bool idle() const { return queued == 0; }
  Channel& channel(int from, int peer, const Network& network) {
    if (last_channel < channels.size() && channels[last_channel].peer == peer) return channels[last_channel];
    auto [at, fresh] = channel_of.try_emplace(peer, channels.size());
    if (fresh) {
      channels.emplace_back();
      channels.back().peer = peer;
      channels.back().route = network.route(from, peer);
    }
    last_channel = at->second;
    return channels[last_channel];
  }
};

class Simulation {
 public:
  Simulation(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs)
      : network_(topology, ranks), program_(program), costs_(costs) {
    for (int r = 0; r < ranks; ++r) ranks_.emplace_back(new Rank(*this, r));
  }
  ~Simulation() {
    for (Rank* r : ranks_) delete r;
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Outcome run() {
    for (Rank* r : ranks_) resume(*r);
    while (!ready_.empty()) {
      const Ready next = ready_.pop();
      const auto rank_stream = static_cast<std::uint64_t>(next);
      post(*ranks_[rank_stream / Rank::kStreams], static_cast<int>(rank_stream % Rank::kStreams), time_of(next));
      while (!touched_.empty()) {  // whose streams have gone on
        Rank& r = *touched_.back();
        touched_.pop_back();
        if (may_resume(r)) resume(r);
      }
    }
    for (Rank* r : ranks_)
      if (!r->state_->finished || !r->state_->idle()) throw Deadlock(stuck());
    return outcome();
  }

 private:
  friend class Rank;

  // --- fibers -------------------------------------------------------------------------------------------------------

  static void enter(void* argument) {
    auto& rank = *static_cast<Rank*>(argument);
    Simulation& s = rank.simulation_;
    try {
      s.program_(rank);
      if (rank.state_->group_depth != 0) throw std::invalid_argument("a group is never ended");
    } catch (...) {
      s.thrown_ = std::current_exception();
    }
    rank.state_->finished = true;
    simt::fiber_switch(rank.state_->fiber, s.main_);
  }

  void resume(Rank& rank) {
    Rank::State& s = *rank.state_;
    if (s.stack == nullptr) {
      s.stack.reset(new char[kStackBytes]);
      simt::fiber_create(s.fiber, s.stack.get(), kStackBytes, &Simulation::enter, &rank);
    }
    s.synchronizing = s.throttled = false;
    simt::fiber_switch(main_, s.fiber);
    if (s.finished) s.stack.reset();
    if (thrown_) std::rethrow_exception(thrown_);
  }

  static bool may_resume(const Rank& rank) {
    const Rank::State& s = *rank.state_;
    if (s.finished) return false;
    return (s.synchronizing && s.idle()) || (s.throttled && s.queued <= kMostQueued / 2);
  }

  void suspend(Rank& rank) { simt::fiber_switch(rank.state_->fiber, main_); }

  // --- operations ---------------------------------------------------------------------------------------------------

  void issue(Rank& rank, int stream, Operation op, double call) {
    check_stream(stream);
    Rank::State& s = *rank.state_;
    rank.host_ += call;
    op.issued = rank.host_;
    s.streams[stream].operations.push(op);
    ++s.queued;
    advance(rank, stream);
    if (s.queued < kMostQueued) return;
    s.throttled = true;
    suspend(rank);
  }

  // Takes what can be done at the stream's front, up to a group, which goes to the heap.
  void advance(Rank& rank, int stream) {
    Rank::State& s = *rank.state_;
    Stream& st = s.streams[stream];
    while (!st.posted && !st.operations.empty()) {
      const Operation op = st.operations.front();
      double start = std::max(st.clock, op.issued);
      switch (op.kind) {
        case Kind::group:
          st.posted = true;
          ready_.push(ready_at(start, static_cast<std::uint64_t>(rank.rank_), stream));
          return;
        case Kind::kernel:
          start += op.seconds;
          break;
        case Kind::record: {
          Event& e = s.events[static_cast<std::size_t>(op.event)];
          e.time = start;
          e.done = true;
          break;
        }
        case Kind::wait: {
          Event& e = s.events[static_cast<std::size_t>(op.event)];
          if (!e.done) {
            e.waiting.push_back(stream);
            return;
          }
          start = std::max(start, e.time);
          break;
        }
      }
      st.clock = start;
      pop(rank, stream);
      if (op.kind == Kind::record)
        for (int other : std::exchange(s.events[static_cast<std::size_t>(op.event)].waiting, {})) advance(rank, other);
    }
  }

  void pop(Rank& rank, int stream) {
    Rank::State& s = *rank.state_;
    s.streams[stream].operations.pop();
    --s.queued;
    if (s.synchronizing || s.throttled) touched_.push_back(&rank);
  }

  // The group at the stream's front begins: its parts meet their other ends, or wait for them.
  void post(Rank& rank, int stream, double time) {
    Stream& st = rank.state_->streams[stream];
    const std::uint32_t count = st.operations.front().count;
    st.open = count;
    st.ends = time;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Part part = st.parts.front();
      st.parts.pop();
      meet(rank.rank_, stream, part, time);
    }
    if (count == 0) end_group(rank, stream);
  }

  void meet(int rank, int stream, const Part& part, double time) {
    const int from = part.send ? rank : part.peer, to = part.send ? part.peer : rank;
    Channel& c = ranks_[static_cast<std::size_t>(from)]->state_->channel(from, to, network_);
    if (c.waiting.empty() || c.sends == part.send) {
      c.sends = part.send;
      c.waiting.push({time, part.bytes, stream});
      return;
    }
    const Waiting other = c.waiting.front();
    c.waiting.pop();
    ++c.messages;
    ++messages_;
    if (other.bytes != part.bytes) {
      const double sent = part.send ? part.bytes : other.bytes, expected = part.send ? other.bytes : part.bytes;
      throw std::invalid_argument("message " + std::to_string(c.messages) + " from rank " + std::to_string(from) +
                                  " to rank " + std::to_string(to) + " has " + std::to_string(std::int64_t(sent)) +
                                  " bytes, and " + std::to_string(std::int64_t(expected)) + " are expected");
    }
    const Transfer t = network_.transfer(c.route, part.bytes, std::max(time, other.ready));
    ranks_[static_cast<std::size_t>(from)]->state_->bytes_sent += part.bytes;
    end_part(from, part.send ? stream : other.stream, t.sent);
    end_part(to, part.send ? other.stream : stream, t.end);
  }

  void end_part(int rank, int stream, double time) {
    Rank& r = *ranks_[static_cast<std::size_t>(rank)];
    Stream& st = r.state_->streams[stream];
    st.ends = std::max(st.ends, time);
    if (--st.open == 0) end_group(r, stream);
  }

  void end_group(Rank& rank, int stream) {
    Stream& st = rank.state_->streams[stream];
    st.clock = st.ends;
    st.posted = false;
    pop(rank, stream);
    advance(rank, stream);
  }

  // --- results ------------------------------------------------------------------------------------------------------

  Outcome outcome() const {
    Outcome o;
    o.messages = messages_;
    for (const Rank* r : ranks_) {
      double end = r->host_;
      for (const Stream& s : r->state_->streams) end = std::max(end, s.clock);
      o.rank_seconds.push_back(end);
      o.bytes_sent.push_back(r->state_->bytes_sent);
      o.seconds = std::max(o.seconds, end);
    }
    return o;
  }

  // The first messages of which one end is missing.
  std::string stuck() const {
    std::string text = "nothing can go on";
    int named = 0, more = 0;
    for (const Rank* r : ranks_)
      for (const Channel& c : r->state_->channels) {
        if (c.waiting.empty()) continue;
        if (++named > 4) {
          ++more;
          continue;
        }
        const std::string from = std::to_string(r->rank_), to = std::to_string(c.peer);
        const std::string number = std::to_string(c.messages + 1);
        text +=
            c.sends
                ? "; rank " + from + " waits to send message " + number + " to rank " + to + ", which never asks for it"
                : "; rank " + to + " waits for message " + number + " from rank " + from + ", which never sends it";
      }
    if (more != 0) text += "; and " + std::to_string(more) + " more";
    if (named == 0) text += ": streams wait for events that are never recorded";
    return text;
  }

  Network network_;
  const std::function<void(Rank&)>& program_;
  Costs costs_;
  std::vector<Rank*> ranks_;
  Heap ready_;
  std::vector<Rank*> touched_;
  std::uint64_t messages_ = 0;
  simt::Fiber main_;
  std::exception_ptr thrown_;
};

Rank::Rank(Simulation& simulation, int rank)
    : simulation_(simulation), rank_(rank), state_(std::make_unique<State>()) {}
Rank::~Rank() = default;

int Rank::ranks() const { return simulation_.network_.ranks(); }

void Rank::group_start() { ++state_->group_depth; }

void Rank::group_end(int stream) {
  if (state_->group_depth == 0) throw std::invalid_argument("a group is ended that was never started");
  if (--state_->group_depth != 0) return;
  check_stream(stream);
  Operation op{Kind::group};
  op.count = static_cast<std::uint32_t>(state_->group.size());
  for (const Part& p : state_->group) state_->streams[stream].parts.push(p);
  state_->group.clear();
  simulation_.issue(*this, stream, op, simulation_.costs_.group_call);
}

void Rank::send(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  state_->group.push_back({peer, true, bytes});
  group_end(stream);
}

void Rank::receive(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  state_->group.push_back({peer, false, bytes});
  group_end(stream);
}

void Rank::kernel(double seconds, int stream) {
  Operation op{Kind::kernel};
  op.seconds = seconds;
  simulation_.issue(*this, stream, op, simulation_.costs_.launch_call);
}

int Rank::record(int stream) {
  Operation op{Kind::record};
  op.event = static_cast<int>(state_->events.size());
  state_->events.emplace_back();
  simulation_.issue(*this, stream, op, simulation_.costs_.event_call);
  return op.event;
}

void Rank::wait(int event, int stream) {
  if (event < 0 || static_cast<std::size_t>(event) >= state_->events.size())
    throw std::invalid_argument("there is no event " + std::to_string(event));
  Operation op{Kind::wait};
  op.event = event;
  simulation_.issue(*this, stream, op, simulation_.costs_.event_call);
}

void Rank::synchronize() {
  if (!state_->idle()) {
    state_->synchronizing = true;
    simulation_.suspend(*this);
  }
  for (const Stream& s : state_->streams) host_ = std::max(host_, s.clock);
}

Outcome simulate(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs) {
  return Simulation(topology, ranks, program, costs).run();
}

}  // namespace ridge::collectives
