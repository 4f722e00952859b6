// The submission's side of a task: one RankWorker for each rank, and one for a task without ranks. On the emulator two
// switchboards join the ranks: those that run the submission as it is have one, those that repeat its device work have
// another, and what passes there is what is judged. On GPUs all ranks are in one sandbox, with NCCL between them.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "grader/worker/agents.hpp"
#include "grader/worker/rank_buffers.hpp"
#include "grader/worker/rank_worker.hpp"
#include "grader/worker/switchboard.hpp"

namespace ridge {

class SubmissionWorkers {
 public:
  // `ranks`: 0 for a task without ranks. `agents`: where the ranks are, on the emulator; else all workers are this
  // machine's. `decoys`: on the emulator, host code sees other inputs of the same shape. Throws as WorkerProcess does.
  SubmissionWorkers(const fs::path& program, int ranks, lab::Backend backend, bool decoys, Agents* agents = nullptr);

  // Gives each worker its rank's buffers. Returns the reply that was not ok, or an ok one.
  Reply share(const RankBuffers& buffers, double limit_seconds);
  // Runs the case's call `times` times on all ranks at once; a reply for each. Where one fails, the others' transfers
  // end too. `record`: with launch records (emulator).
  std::vector<Reply> run(const RankBuffers& buffers, unsigned times, bool record, bool sanitize, double limit_seconds);

  // Answers what the submission asks in the runs from now on; of a task without ranks.
  void set_answerer(Answerer answerer) { workers_.front()->set_answerer(std::move(answerer)); }
  // Answers all ranks' file requests in the runs from now on; nullptr: they fail.
  void set_files(files::Service* service);
  // Launch records come with requests from now on (emulator).
  void keep_requests();
  // Data that passed between ranks in the last run: device memory as repeated, the host's (MPI) as sent. On GPUs nobody
  // counts.
  std::vector<lab::Message> messages();
  std::vector<lab::Message> messages_until_now();  // as sent, in a run that did not come to its end
  const std::string& output(int rank);             // printed by the submission
  WorkerProcess& worker(int rank) { return workers_[static_cast<std::size_t>(rank)]->first(); }
  int count() const { return static_cast<int>(workers_.size()); }

 private:
  Agents* agents_ = nullptr;
  std::optional<Switchboard> first_, replays_;  // of several ranks on the emulator
  std::vector<std::unique_ptr<RankWorker>> workers_;
};

}  // namespace ridge
