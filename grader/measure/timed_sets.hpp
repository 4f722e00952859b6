// The buffers of a timed session: a set for each call of the largest turn.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/worker/rank_buffers.hpp"

namespace ridge::timed {

// Bytes of inputs, outputs and workspace of one rank.
double set_bytes(const lab::TaskCheck& check, const lab::Case& c);

// Samples of one turn's outputs: by rank, of all sets that were chosen.
using Samples = std::vector<Sampled>;

class Sets {
 public:
  // `devices`: one for each rank.
  Sets(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed,
       JudgeTime& time)
      : devices_(devices), check_(check), case_(c), seed_(seed), time_(time) {}

  void grow(std::size_t count);
  std::size_t size() const { return sets_.size(); }
  const RankBuffers& operator[](std::size_t i) const { return sets_[i]; }

  void refill(const Order& order, std::uint64_t turn_seed);
  // Before a turn: overwrites outputs, and aims each device's sample at the last call's outputs and at some others.
  void prepare(const Order& order, std::uint64_t seed, Samples& samples);
  // Throws Failed where an output is late or wrong. `turn` counts from 1. Of the first turn the outputs of a
  // drawn call are compared whole, all others in blocks that nobody can know before.
  void verify(const Order& order, const Samples& samples, int turn);

 private:
  void verify_some(std::span<const std::size_t> order, const std::vector<HostCopy>& copies, const Samples& samples,
                   int turn, bool whole);

  const std::vector<Device*>& devices_;
  const lab::TaskCheck& check_;
  const lab::Case& case_;
  std::uint64_t seed_;
  JudgeTime& time_;
  std::vector<RankBuffers> sets_;
};

}  // namespace ridge::timed
