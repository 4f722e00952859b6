// The submission's side of a task with several ranks. On the emulator a pair of workers (submission.hpp) for each, and
// the switchboards between them: those that run the submission as it is have one, those that repeat its device work
// have another, and what passes there is what is judged. On GPUs one worker for each, all in one sandbox, with NCCL
// between them.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "grader/worker/agents.hpp"
#include "grader/worker/submission.hpp"
#include "grader/worker/switchboard.hpp"

namespace ridge {

class RankWorkers {
 public:
  // Throws as WorkerProcess does. `agents`: where they are, on the emulator; else all workers are this machine's.
  RankWorkers(const fs::path& program, int ranks, lab::Backend backend, bool decoys, Agents* agents = nullptr);

  // One set of buffers for each rank.
  using Buffers = std::vector<CaseBuffers>;
  Reply share(const Buffers& buffers, double limit_seconds);
  // All ranks at once; a reply for each. Where one fails the others' messages end too.
  std::vector<Reply> run(const Buffers& buffers, unsigned times, bool record, bool sanitize, double limit_seconds);
  // Data that passed between ranks in the last run: device memory as repeated, the host's (MPI) as sent. On GPUs nobody
  // counts.
  std::vector<lab::Message> messages();
  const std::string& output(int rank);  // printed by the submission
  std::string report(int rank);         // printed by whichever of the two has ended last
  WorkerProcess& worker(int rank) { return workers_[static_cast<std::size_t>(rank)]->first(); }
  int ranks() const { return static_cast<int>(workers_.size()); }

 private:
  Agents* agents_ = nullptr;
  std::optional<Switchboard> first_, replays_;  // of the emulator
  std::vector<std::unique_ptr<SubmissionWorkers>> workers_;
};

}  // namespace ridge
