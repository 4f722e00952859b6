// The submission's side of one rank; a task without ranks has one. On a GPU that is one worker. On the emulator there
// are two of the same program: the first runs the submission as it is and only yields a trace of its device work; the
// second runs nothing but the kernels in that trace, and its outputs and counts are what is judged. Host code can thus
// neither compute an answer nor touch a count. Where seeds are secret, the first one does not even see the inputs that
// count.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "checks/check.hpp"
#include "grader/worker/buffers.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

// The worker's rank among several, and its streams to the switchboards (submission_workers.hpp).
struct RankPlace {
  int rank = 0, ranks = 1;
  int messages = -1, replay_messages = -1;
};

class RankWorker {
 public:
  // `decoys`: on the emulator, host code sees other inputs of the same shape. Throws as WorkerProcess does.
  RankWorker(const fs::path& program, lab::Backend backend, bool decoys, const RankPlace& place = {});

  // A rank on a GPU, of those started together.
  RankWorker(std::shared_ptr<RankSandbox> ranks, int rank);

  // A rank whose two workers an agent keeps, on the emulator.
  RankWorker(std::shared_ptr<RankHost> first, std::shared_ptr<RankHost> replay, bool decoys);

  // Gives both the case's buffers. The reply that was not ok, or an ok one.
  Reply share(const CaseBuffers& buffers, double limit_seconds);
  // Runs the case's call `times` times; the judged outputs are in `buffers`. `record`: with launch records (emulator).
  // `go_on`: asked between the submission's own run and its repetition; without it the first reply is the answer.
  Reply run(const CaseBuffers& buffers, unsigned times, bool record, bool sanitize, double limit_seconds,
            const std::function<bool()>& go_on = {});

  // Answers what the submission asks in the runs from now on.
  void set_answerer(Answerer answerer) { answerer_ = std::move(answerer); }
  // Who answers its file requests in the runs from now on.
  void set_files(FilesOwner owner) { first_.set_files(owner); }
  // Launch records come with requests from now on (emulator).
  void keep_requests() { requests_ = true; }

  WorkerProcess& first() { return first_; }
  const std::string& output() { return first_.output(); }  // kernels print twice; this is once

 private:
  WorkerProcess first_;
  std::unique_ptr<WorkerProcess> replay_;
  bool decoys_ = false, requests_ = false;
  Answerer answerer_;
};

}  // namespace ridge
