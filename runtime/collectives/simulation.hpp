// Runs a schedule of messages for thousands of ranks in one process: no data, only times.
//
// A program is a function that every rank runs, as its host code would: it issues grouped sends and receives, kernels
// and events to streams, and may wait for them. Rules are NCCL's: the parts of a group go side by side, the group ends
// with the last of them, the n-th send from a to b meets the n-th receive there, and neither moves before both are
// ready.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "network.hpp"

namespace ridge::collectives {

// The schedule can't go on: the message says for what each of the first ranks waits.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Costs {
  double group_call = 0;  // s of the host for a group, a kernel launch and an event
  double launch_call = 0;
  double event_call = 0;
};

struct Outcome {
  double seconds = 0;                // until the last stream of the last rank is empty
  std::vector<double> rank_seconds;  // one for each rank
  std::vector<double> bytes_sent;
  std::uint64_t messages = 0;
};

class Simulation;

// A rank as its program sees it. Streams are numbered from 0, at most kStreams of them.
class Rank {
 public:
  static constexpr int kStreams = 8;

  int rank() const { return rank_; }
  int ranks() const;
  double now() const { return host_; }  // the host's time

  void group_start();
  void group_end(int stream = 0);
  // Outside of a group each is a group of its own.
  void send(int peer, double bytes, int stream = 0);
  void receive(int peer, double bytes, int stream = 0);
  void kernel(double seconds, int stream = 0);
  int record(int stream);            // an event
  void wait(int event, int stream);  // later operations of `stream` wait for it
  void synchronize();                // the host waits for all streams

 private:
  friend class Simulation;
  struct State;
  Rank(Simulation& simulation, int rank);
  ~Rank();

  Simulation& simulation_;
  int rank_;
  double host_ = 0;
  std::unique_ptr<State> state_;
};

// Throws Deadlock, std::invalid_argument (a peer that is not there, two ends of a message that differ in bytes), and
// the program's own exceptions.
Outcome simulate(const Topology& topology, int ranks, const std::function<void(Rank&)>& program, Costs costs = {});

}  // namespace ridge::collectives
