// The hosts of all ranks, on fibers, and what they call.
#include "simulation.hpp"

#include <algorithm>
#include <utility>

#include "simulation_engine.hpp"

namespace ridge::collectives {

namespace {

// As many as CUDA takes before a launch blocks; the host goes on when half of them are done.
constexpr std::int32_t kMostQueued = 1024;
// With one stream alone, a later operation cannot begin earlier. The host is followed up to this number of operations,
// which keeps the queues of thousands of ranks in the cache, and goes on when nothing is left, since waking it costs
// several cache lines.
constexpr std::int32_t kMostInOneStream = OperationQueue::kLeast;
constexpr std::size_t kStackBytes = 64 * 1024;

void check_stream(int stream) {
  if (stream < 0 || stream >= Rank::kStreams)
    throw std::invalid_argument("there is no stream " + std::to_string(stream));
}

}  // namespace

Simulation::Simulation(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs)
    : network_(topology, ranks),
      program_(program),
      costs_(costs),
      loads_(static_cast<std::size_t>(ranks)),
      streams_(static_cast<std::size_t>(ranks) * Rank::kStreams) {
  for (int r = 0; r < ranks; ++r) ranks_.emplace_back(new Rank(*this, r));
}

Simulation::~Simulation() {
  for (Rank* r : ranks_) delete r;
}

Outcome Simulation::run() {
  for (Rank* r : ranks_) resume(*r);
  while (!ready_.empty()) {
    const Ready next = ready_.pop();
    post(static_cast<std::uint64_t>(next), time_of(next));
    while (!touched_.empty()) {
      const std::size_t r = touched_.back();
      touched_.pop_back();
      if (loads_[r].may_resume()) resume(*ranks_[r]);
    }
  }
  for (Rank* r : ranks_)
    if (!r->state_->finished || load(*r).queued != 0) throw Deadlock(stuck());
  return outcome();
}

void Simulation::enter(void* argument) {
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

void Simulation::resume(Rank& rank) {
  Rank::State& s = *rank.state_;
  if (s.stack == nullptr) {
    s.stack.reset(new char[kStackBytes]);
    simt::fiber_create(s.fiber, s.stack.get(), kStackBytes, &Simulation::enter, &rank);
  }
  load(rank).resume_at = Rank::State::kNone;
  simt::fiber_switch(main_, s.fiber);
  if (s.finished) s.stack.reset();
  if (thrown_) std::rethrow_exception(thrown_);
}

void Simulation::suspend(Rank& rank, std::int32_t queued) {
  load(rank).resume_at = queued;
  simt::fiber_switch(rank.state_->fiber, main_);
}

void Simulation::add(Rank& rank, const Part& part) {
  Rank::State& s = *rank.state_;
  Operation* op = s.more.empty() ? &s.group : &s.more.back();
  if (op->messages == 2) {
    op->goes_on = true;
    op = &s.more.emplace_back();
  }
  op->add(part.bytes, part.channel, part.sends);
}

void Simulation::issue(Rank& rank, int stream, Operation& op, double call) {
  check_stream(stream);
  Rank::State& s = *rank.state_;
  rank.host_ += call;
  op.issued = rank.host_;
  if (s.last_stream != stream) s.limit = s.last_stream == Rank::State::kNone ? kMostInOneStream : kMostQueued;
  s.last_stream = stream;
  const std::uint64_t id = id_of(rank, stream);
  OperationQueue& operations = streams_[id].operations;
  operations.push(op, pool_);
  if (op.goes_on) {
    for (const Operation& more : s.more) operations.push(more, pool_);
    s.more.clear();
  }
  Load& l = load(rank);
  ++l.queued;
  advance(id);
  if (l.queued >= s.limit) suspend(rank, s.limit == kMostInOneStream ? 0 : s.limit / 2);
}

Rank::Rank(Simulation& simulation, int rank)
    : simulation_(simulation), rank_(rank), state_(std::make_unique<State>()) {}
Rank::~Rank() = default;

int Rank::ranks() const { return simulation_.network_.ranks(); }

void Rank::group_start() { ++state_->group_depth; }

void Rank::group_end(int stream) {
  if (state_->group_depth == 0) throw std::invalid_argument("a group is ended that was never started");
  if (--state_->group_depth != 0) return;
  check_stream(stream);
  Operation op = std::exchange(state_->group, Operation());
  simulation_.issue(*this, stream, op, simulation_.costs_.group_call);
}

void Rank::send(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  simulation_.add(*this, {bytes, simulation_.channel(*this, peer, true), true});
  state_->bytes_sent += bytes;
  group_end(stream);
}

void Rank::receive(int peer, double bytes, int stream) {
  if (peer < 0 || peer >= ranks()) throw std::invalid_argument("there is no rank " + std::to_string(peer));
  group_start();
  simulation_.add(*this, {bytes, simulation_.channel(*this, peer, false), false});
  group_end(stream);
}

void Rank::kernel(double seconds, int stream) {
  Operation op;
  op.kind = OperationKind::kernel;
  op.amount[0] = seconds;
  simulation_.issue(*this, stream, op, simulation_.costs_.launch_call);
}

int Rank::record(int stream) {
  if (state_->events.size() > Operation::kMostNumber) throw std::length_error("too many events");
  Operation op;
  op.kind = OperationKind::record;
  const auto event = static_cast<std::uint32_t>(state_->events.size());
  op.number = event & Operation::kMostNumber;
  state_->events.emplace_back();
  simulation_.issue(*this, stream, op, simulation_.costs_.event_call);
  return static_cast<int>(event);
}

void Rank::wait(int event, int stream) {
  if (event < 0 || static_cast<std::size_t>(event) >= state_->events.size())
    throw std::invalid_argument("there is no event " + std::to_string(event));
  Operation op;
  op.kind = OperationKind::wait;
  op.number = static_cast<std::uint32_t>(event) & Operation::kMostNumber;
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
