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
constexpr std::int32_t kMostQueued = 1024;
// Where only one stream was used, what comes later cannot begin earlier: the host is followed so far only, which keeps what
// thousands of ranks have queued in the cache.
constexpr std::int32_t kMostInOneStream = 16;
constexpr std::size_t kStackBytes = 64 * 1024;

void check_stream(int stream) {
  if (stream < 0 || stream >= Rank::kStreams)
    throw std::invalid_argument("there is no stream " + std::to_string(stream));
}

constexpr int kNone = -1;

// One side of a message of a group.
struct Part {
  double bytes;
  int channel;  // index
  bool send;
};

enum class Kind : std::uint8_t { group, kernel, record, wait };

struct Operation {
  double issued = 0, seconds = 0;
  std::uint32_t number = 0;  // parts of a group, or an event
  Kind kind = Kind::group;
};

// A queue in a circle, whose length is a power of two. Lean: there are two for every stream.
template <class T>
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { delete[] items_; }
  bool empty() const { return size_ == 0; }
  T& front() { return items_[first_]; }
  void push(const T& item) {
    if (size_ == room_) grow();
    items_[(first_ + size_++) & (room_ - 1)] = item;
  }
  void pop() {
    first_ = (first_ + 1) & (room_ - 1);
    --size_;
  }

 private:
  void grow() {
    const std::uint32_t room = room_ == 0 ? 8 : 2 * room_;
    T* larger = new T[room];
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = items_[(first_ + i) & (room_ - 1)];
    delete[] std::exchange(items_, larger);
    room_ = room;
    first_ = 0;
  }
  T* items_ = nullptr;
  std::uint32_t room_ = 0, first_ = 0, size_ = 0;
};

// Streams and channels are what thousands of ranks take in turn: a cache line each, or nearly.
struct Stream {
  double clock = 0;        // end of what has ended
  double ends = 0;         // of the parts of the running group that have ended
  std::uint32_t open = 0;  // its parts that have not
  bool posted = false;     // in the heap, or waiting for peers
  Queue<Operation> operations;
  Queue<Part> parts;  // of its groups, in order
};

// A group that can begin: its time (as bits, which order like the number where it is not negative), then stream and rank,
// so that the order never depends on the heap. One number, because comparing it takes no branch.
__extension__ using Ready = unsigned __int128;
Ready ready_at(double time, std::uint64_t stream) {
  std::uint64_t bits;
  std::memcpy(&bits, &time, sizeof bits);
  return Ready{bits} << 64 | stream;
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

// One end of a message, of which the other has not come yet.
struct Waiting {
  double ready = 0, bytes = 0;
  std::uint32_t stream = 0;  // that waits
};

// Messages from one rank to another, of which one end may wait; more that do are in Simulation::more_.
struct alignas(64) Channel {
  double ready = 0, bytes = 0;
  std::uint32_t stream = 0;         // that waits
  std::uint32_t messages = 0;       // that have gone through
  bool any = false, sends = false;  // one end waits: of a send, or of a receive
  bool more = false;
  Network::Route route;
};
static_assert(sizeof(Channel) == 64);

struct Event {
  double time = 0;
  bool done = false;
  std::vector<std::uint64_t> waiting;  // streams
};

}  // namespace

struct Rank::State {
  std::vector<Part> group;  // that is being built
  int group_depth = 0;
  std::vector<Event> events;
  struct Known {
    int peer = kNone, channel = 0;
  };
  Known last[2];  // channels that it has used last: from it, to it
  int last_stream = kNone;
  std::int32_t limit = 0;  // of what it may have queued

  simt::Fiber fiber;
  std::unique_ptr<char[]> stack;
  bool finished = false;
};

class Simulation {
 public:
  Simulation(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs)
      : network_(topology, ranks),
        program_(program),
        costs_(costs),
        streams_(static_cast<std::size_t>(ranks) * Rank::kStreams),
        bytes_sent_(static_cast<std::size_t>(ranks)),
        loads_(static_cast<std::size_t>(ranks)) {
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
      post(static_cast<std::uint64_t>(next), time_of(next));
      while (!touched_.empty()) {  // whose streams have gone on
        Rank& r = *touched_.back();
        touched_.pop_back();
        if (may_resume(r)) resume(r);
      }
    }
    for (Rank* r : ranks_)
      if (!r->state_->finished || load(*r).queued != 0) throw Deadlock(stuck());
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
    load(rank).resume_at = kNone;
    simt::fiber_switch(main_, s.fiber);
    if (s.finished) s.stack.reset();
    if (thrown_) std::rethrow_exception(thrown_);
  }

  bool may_resume(const Rank& rank) { return load(rank).queued <= load(rank).resume_at; }

  // Until no more than `queued` operations wait.
  void suspend(Rank& rank, std::int32_t queued) {
    load(rank).resume_at = queued;
    simt::fiber_switch(rank.state_->fiber, main_);
  }

  // --- operations ---------------------------------------------------------------------------------------------------

  void issue(Rank& rank, int stream, Operation op, double call) {
    check_stream(stream);
    Rank::State& s = *rank.state_;
    rank.host_ += call;
    op.issued = rank.host_;
    const std::uint64_t id = id_of(rank, stream);
    if (s.last_stream != stream) s.limit = s.last_stream == kNone ? kMostInOneStream : kMostQueued;
    s.last_stream = stream;
    streams_[id].operations.push(op);
    ++load(rank).queued;
    advance(rank, id);
    if (load(rank).queued >= s.limit) suspend(rank, s.limit / 2);
  }

  // How much a rank has queued, and how little lets its host go on; kNone: it does not wait.
  struct Load {
    std::int32_t queued = 0, resume_at = kNone;
  };
  Load& load(const Rank& rank) { return loads_[static_cast<std::size_t>(rank.rank_)]; }

  // All first streams, then all second ones: those in use lie together.
  std::uint64_t id_of(const Rank& rank, int stream) const {
    return static_cast<std::uint64_t>(stream) * ranks_.size() + static_cast<std::uint64_t>(rank.rank_);
  }
  Rank& rank_of(std::uint64_t stream) {
    while (stream >= ranks_.size()) stream -= ranks_.size();
    return *ranks_[stream];
  }

  // The channel between a rank and `peer`, which is made when it is first used.
  int channel(Rank& rank, int peer, bool send) {
    Rank::State& s = *rank.state_;
    Rank::State::Known& last = s.last[send ? 0 : 1];
    if (last.peer == peer) return last.channel;
    const int from = send ? rank.rank_ : peer, to = send ? peer : rank.rank_;
    const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
    auto [at, fresh] = channel_of_.try_emplace(key, static_cast<int>(channels_.size()));
    if (fresh) {
      channels_.emplace_back();
      channels_.back().route = network_.route(from, to);
      ends_.push_back({from, to});
    }
    last = {peer, at->second};
    return at->second;
  }

  // Takes what can be done at the stream's front, up to a group, which goes to the heap.
  void advance(Rank& rank, std::uint64_t id) {
    Stream& st = streams_[id];
    while (!st.posted && !st.operations.empty()) {
      const Operation op = st.operations.front();
      double start = std::max(st.clock, op.issued);
      if (op.kind == Kind::group) {
        st.posted = true;
        ready_.push(ready_at(start, id));
        return;
      }
      if (op.kind == Kind::kernel) {
        start += op.seconds;
      } else {
        Event& e = rank.state_->events[op.number];
        if (op.kind == Kind::record) {
          e.time = start;
          e.done = true;
        } else if (!e.done) {
          e.waiting.push_back(id);
          return;
        } else {
          start = std::max(start, e.time);
        }
      }
      st.clock = start;
      pop(rank, st);
      if (op.kind == Kind::record)
        for (std::uint64_t other : std::exchange(rank.state_->events[op.number].waiting, {})) advance(rank, other);
    }
  }

  void pop(Rank& rank, Stream& stream) {
    stream.operations.pop();
    --load(rank).queued;
    if (may_resume(rank)) touched_.push_back(&rank);
  }

  // The group at the stream's front begins: its parts meet their other ends, or wait for them.
  void post(std::uint64_t id, double time) {
    Stream& st = streams_[id];
    const std::uint32_t count = st.operations.front().number;
    st.open = count;
    st.ends = time;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Part part = st.parts.front();
      st.parts.pop();
      meet(id, part, time);
    }
    if (count == 0) end_group(id, st);
  }

  void meet(std::uint64_t id, const Part& part, double time) {
    Channel& c = channels_[static_cast<std::size_t>(part.channel)];
    if (!c.any || c.sends == part.send) return wait(c, part, {time, part.bytes, static_cast<std::uint32_t>(id)});
    const Waiting other{c.ready, c.bytes, c.stream};
    c.any = c.more;
    if (c.more) next_of(c, part.channel);
    ++c.messages;
    ++messages_;
    if (other.bytes != part.bytes) {
      const Ends& ends = ends_[static_cast<std::size_t>(part.channel)];
      const double sent = part.send ? part.bytes : other.bytes, expected = part.send ? other.bytes : part.bytes;
      throw std::invalid_argument("message " + std::to_string(c.messages) + " from rank " + std::to_string(ends.from) +
                                  " to rank " + std::to_string(ends.to) + " has " + std::to_string(std::int64_t(sent)) +
                                  " bytes, and " + std::to_string(std::int64_t(expected)) + " are expected");
    }
    const Transfer t = network_.transfer(c.route, part.bytes, std::max(time, other.ready));
    end_part(part.send ? id : other.stream, t.sent);
    end_part(part.send ? other.stream : id, t.end);
  }

  void wait(Channel& c, const Part& part, const Waiting& w) {
    c.sends = part.send;
    if (c.any) {
      c.more = true;
      return more_[part.channel].push(w);
    }
    c.any = true;
    c.ready = w.ready, c.bytes = w.bytes, c.stream = w.stream;
  }

  void next_of(Channel& c, int channel) {
    Queue<Waiting>& queue = more_[channel];
    const Waiting w = queue.front();
    queue.pop();
    c.ready = w.ready, c.bytes = w.bytes, c.stream = w.stream;
    c.more = !queue.empty();
  }

  void end_part(std::uint64_t id, double time) {
    Stream& st = streams_[id];
    st.ends = std::max(st.ends, time);
    if (--st.open == 0) end_group(id, st);
  }

  void end_group(std::uint64_t id, Stream& st) {
    st.clock = st.ends;
    st.posted = false;
    Rank& rank = rank_of(id);
    pop(rank, st);
    advance(rank, id);
  }

  // --- results ------------------------------------------------------------------------------------------------------

  Outcome outcome() const {
    Outcome o;
    o.messages = messages_;
    for (const Rank* r : ranks_) {
      double end = r->host_;
      for (int k = 0; k < Rank::kStreams; ++k) end = std::max(end, streams_[id_of(*r, k)].clock);
      o.rank_seconds.push_back(end);
      o.bytes_sent.push_back(bytes_sent_[static_cast<std::size_t>(r->rank_)]);
      o.seconds = std::max(o.seconds, end);
    }
    return o;
  }

  // The first messages of which one end is missing.
  std::string stuck() const {
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
      text +=
          c->sends
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
  std::vector<Stream> streams_;  // kStreams of each rank
  struct Ends {
    int from, to;
    auto operator<=>(const Ends&) const = default;
  };
  std::vector<Channel> channels_;
  std::vector<Ends> ends_;                             // of channels_
  std::unordered_map<int, Queue<Waiting>> more_;       // of channels_
  std::unordered_map<std::uint64_t, int> channel_of_;  // by both ranks
  std::vector<double> bytes_sent_;                     // by each rank
  std::vector<Load> loads_;
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
  Operation op;
  op.number = static_cast<std::uint32_t>(state_->group.size());
  for (const Part& p : state_->group) simulation_.streams_[simulation_.id_of(*this, stream)].parts.push(p);
  state_->group.clear();
  simulation_.issue(*this, stream, op, simulation_.costs_.group_call);
}

void Rank::send(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  state_->group.push_back({bytes, simulation_.channel(*this, peer, true), true});
  simulation_.bytes_sent_[static_cast<std::size_t>(rank_)] += bytes;
  group_end(stream);
}

void Rank::receive(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  state_->group.push_back({bytes, simulation_.channel(*this, peer, false), false});
  group_end(stream);
}

void Rank::kernel(double seconds, int stream) {
  Operation op;
  op.kind = Kind::kernel;
  op.seconds = seconds;
  simulation_.issue(*this, stream, op, simulation_.costs_.launch_call);
}

int Rank::record(int stream) {
  Operation op;
  op.kind = Kind::record;
  op.number = static_cast<std::uint32_t>(state_->events.size());
  state_->events.emplace_back();
  simulation_.issue(*this, stream, op, simulation_.costs_.event_call);
  return static_cast<int>(op.number);
}

void Rank::wait(int event, int stream) {
  if (event < 0 || static_cast<std::size_t>(event) >= state_->events.size())
    throw std::invalid_argument("there is no event " + std::to_string(event));
  Operation op;
  op.kind = Kind::wait;
  op.number = static_cast<std::uint32_t>(event);
  simulation_.issue(*this, stream, op, simulation_.costs_.event_call);
}

void Rank::synchronize() {
  if (simulation_.load(*this).queued != 0) simulation_.suspend(*this, 0);
  for (int k = 0; k < kStreams; ++k) host_ = std::max(host_, simulation_.streams_[simulation_.id_of(*this, k)].clock);
}

Outcome simulate(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs) {
  return Simulation(topology, ranks, program, costs).run();
}

}  // namespace ridge::collectives
