// The simulator's state, which its parts share: simulation.cpp has the hosts' side, simulation_messages.cpp the
// streams' side.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <unordered_map>

#include "fiber/fiber.hpp"
#include "operation_queue.hpp"
#include "ready_queue.hpp"
#include "simulation.hpp"

namespace ridge::collectives {

struct Rank::State {
  static constexpr int kNone = -1;

  struct Event {
    double time = 0;
    bool done = false;
    std::vector<std::uint64_t> waiting;  // streams
  };
  struct Known {
    int peer = kNone;
    std::uint32_t channel = 0;
  };

  simt::Fiber fiber;
  std::unique_ptr<char[]> stack;
  double bytes_sent = 0;
  Known last[2];  // the channels that it used last, as sender and as receiver
  int group_depth = 0;
  int last_stream = kNone;
  std::int32_t limit = 0;  // most operations that it may have queued
  bool finished = false;
  Operation group;              // the group that is being built
  std::vector<Operation> more;  // its messages beyond the first two
  std::vector<Event> events;
};

class Simulation {
 public:
  Simulation(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Outcome run();

 private:
  friend class Rank;

  // Streams and channels are what thousands of ranks take in turn: a cache line each.
  struct alignas(64) Stream {
    double clock = 0;        // end of the last operation that has ended
    double ends = 0;         // end of the running group's messages that have ended
    std::uint32_t open = 0;  // number of its messages that have not ended
    bool posted = false;     // ready, or waiting for peers
    OperationQueue operations;
  };
  // One side of a message.
  struct Part {
    double bytes;
    std::uint32_t channel;
    bool sends;
  };
  // One end of a message whose other end has not come yet.
  struct Waiting {
    double ready = 0, bytes = 0;
    std::uint32_t stream = 0;  // the stream that waits
  };
  // A channel: the messages from one rank to another. One end may wait here, further ones in more_.
  struct alignas(64) Channel {
    double ready = 0, bytes = 0;
    std::uint32_t stream = 0;         // the stream that waits
    std::uint32_t messages = 0;       // messages that have gone through
    bool any = false, sends = false;  // `any`: one end waits; `sends`: that of a send, else of a receive
    bool more = false;
    Network::Route route;
  };
  struct Ends {
    int from, to;
    auto operator<=>(const Ends&) const = default;
  };
  // The number of operations that a rank has queued, and the number at which its host goes on; kNone: it does not wait.
  struct Load {
    std::int32_t queued = 0, resume_at = Rank::State::kNone;
    bool may_resume() const { return queued <= resume_at; }
  };

  // Hosts.
  static void enter(void* rank);
  void resume(Rank& rank);
  void suspend(Rank& rank, std::int32_t queued);  // waits until no more than `queued` operations are left
  void add(Rank& rank, const Part& part);         // adds to the group that is being built
  void issue(Rank& rank, int stream, Operation& op, double call);
  Load& load(const Rank& rank) { return loads_[static_cast<std::size_t>(rank.rank_)]; }

  // Streams. All first ones, then all second ones: those in use lie together.
  std::uint64_t id_of(const Rank& rank, int stream) const {
    return static_cast<std::uint64_t>(stream) * ranks_.size() + static_cast<std::uint64_t>(rank.rank_);
  }
  std::size_t rank_of(std::uint64_t stream) const {
    while (stream >= ranks_.size()) stream -= ranks_.size();
    return stream;
  }
  void advance(std::uint64_t id);
  void done(std::uint64_t id);
  void post(std::uint64_t id, double time);
  void meet(std::uint64_t id, const Part& part, double time);
  void wait(Channel& channel, const Part& part, const Waiting& waiting);
  void next_of(Channel& channel, std::uint32_t number);
  void end_part(std::uint64_t id, double time);
  void end_group(std::uint64_t id, Stream& stream);
  std::uint32_t channel(Rank& rank, int peer, bool sends);
  [[noreturn]] void differ(const Part& part, double other_bytes) const;

  Outcome outcome() const;
  std::string stuck() const;  // describes the first messages that lack an end

  Network network_;
  const std::function<void(Rank&)>& program_;
  Costs costs_;
  std::vector<Rank*> ranks_;
  std::vector<Load> loads_;  // by rank
  OperationQueue::Pool pool_;
  std::vector<Stream> streams_;  // kStreams of each rank
  std::vector<Channel> channels_;
  std::vector<Ends> ends_;                                       // by channel
  std::unordered_map<std::uint32_t, std::deque<Waiting>> more_;  // by channel
  std::unordered_map<std::uint64_t, std::uint32_t> channel_of_;  // key: both ranks
  ReadyQueue ready_;
  std::vector<std::size_t> touched_;  // ranks whose hosts may go on
  std::uint64_t messages_ = 0;
  simt::Fiber main_;
  std::exception_ptr thrown_;
};

}  // namespace ridge::collectives
