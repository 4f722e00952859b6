// The buffers of a case for all its ranks: a set for each, and one for a case without ranks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "checks/files.hpp"
#include "grader/worker/buffers.hpp"

namespace ridge {

// The inputs of one set of buffers: which of a stream of seeds.
struct InputSeed {
  std::uint64_t base = 0;
  const char* stream = "";
  std::uint64_t number = 0;

  std::uint64_t of(const lab::Case& c) const;      // of rank c.rank's own inputs
  std::uint64_t shared(const lab::Case& c) const;  // of those that all ranks have alike; 0 for a case without ranks
};

// The elements of one rank's outputs that take_sample() read.
struct Sampled {
  std::vector<OutputSample> samples;
  std::vector<std::byte> bytes;
};

class RankBuffers {
 public:
  // `devices`: one for each rank. Buffer ids run from `first_id` upwards and are the same on each rank. `like`: buffers
  // whose inputs these get, until they are refilled.
  RankBuffers(std::span<Device* const> devices, const lab::TaskCheck& check, const lab::Case& c, const InputSeed& seed,
              std::uint32_t first_id, JudgeTime& time, const RankBuffers* like = nullptr);

  std::size_t ranks() const { return sets_.size(); }
  CaseBuffers& operator[](std::size_t rank) { return sets_[rank]; }
  const CaseBuffers& operator[](std::size_t rank) const { return sets_[rank]; }
  std::uint32_t next_id() const;

  // New inputs at the same addresses; they are on the devices once each one's settle() returns.
  void refill(const InputSeed& seed);
  void poison(std::uint64_t seed);  // outputs and workspace

  // Inputs and outputs of all ranks on the host. `piece`: of the devices' staging memory, where they stay until the
  // next such call with it; -1: in memory of their own. Adds no time to JudgeTime.
  HostCopy collect(int piece) const;
  // The first rank whose outputs are no longer what was sampled of them earlier; -1: none. `sampled`: of each rank.
  int late_rank(const HostCopy& copy, std::span<const Sampled> sampled) const;
  static constexpr const char* kLate = "outputs were still being written after the program had said that it was done";

  // Downloads the outputs and compares them with the expected ones.
  lab::Verdict verify() const;
  // Of a task with files: what its check says of them, and of the outputs.
  lab::Verdict verify_files(const lab::UsesFiles& check, const files::Service& files) const;
  // Of a task on the machine's own files: those of a call with these inputs.
  std::vector<lab::RealFile> real_files(const lab::UsesFiles& check) const;
  // Of a right answer; `asked`: in the call that gave it.
  std::vector<lab::Mark> marks(std::span<const lab::Question> asked) const;

 private:
  const lab::TaskCheck& check_;
  lab::Case case_;
  JudgeTime& time_;
  std::vector<CaseBuffers> sets_;
};

}  // namespace ridge
