// The submission's side of a task with several ranks: a pair of workers (submission.hpp) for each, and the switchboards between
// them. Those that run the submission as it is have one, those that repeat its device work have another: what passes there
// is what is judged.
#pragma once
#include <memory>
#include <vector>

#include "submission.hpp"
#include "switchboard.hpp"

namespace ridge {

class RankWorkers {
 public:
  // Throws as WorkerProcess does.
  RankWorkers(const fs::path& program, int ranks, bool decoys);

  // One set of buffers for each rank.
  using Buffers = std::vector<CaseBuffers>;
  Reply share(const Buffers& buffers, double limit_seconds);
  // All ranks at once; a reply for each. Where one fails the others' messages end too.
  std::vector<Reply> run(const Buffers& buffers, unsigned times, bool record, bool sanitize, double limit_seconds);
  // Data that passed between ranks in the last run: device memory as repeated, the host's (MPI) as sent.
  std::vector<lab::Message> messages();
  const std::string& output(int rank);  // printed by the submission
  std::string report(int rank);         // printed by whichever of the two has ended last
  int ranks() const { return static_cast<int>(workers_.size()); }

 private:
  Switchboard first_, replays_;
  std::vector<std::unique_ptr<SubmissionWorkers>> workers_;
};

}  // namespace ridge
