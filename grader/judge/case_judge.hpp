// Judges the answers of one task, case by case. A task without ranks is the case of one worker.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "checks/files.hpp"
#include "grader/judge/explain.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/questions.hpp"
#include "grader/machine/device.hpp"
#include "grader/worker/real_files.hpp"
#include "grader/worker/submission_workers.hpp"

namespace ridge {

// Whether host code sees other inputs than those that count: where the inputs are secret.
bool decoys(const JudgeOptions& options, const lab::TaskCheck& check);
// Whether warps' requests are shown: those of public inputs only.
bool keeps_requests(const JudgeOptions& options);

class CaseJudge {
 public:
  // `program`: the submission's worker. `elsewhere`: a second build of it, or empty. `baseline`: the course's own, on a
  // GPU. `limit`: seconds that one request may take. `time`: the judge's own goes there.
  CaseJudge(const lab::TaskCheck& check, const JudgeOptions& options, Device& device, const fs::path& program,
            const fs::path& elsewhere, const fs::path& baseline, std::uint64_t seed, double limit, JudgeTime& time)
      : check_(check),
        options_(options),
        device_(device),
        program_(program),
        elsewhere_(elsewhere),
        baseline_(baseline),
        seed_(seed),
        limit_(limit),
        explain_(program, limit),
        time_(time) {}

  struct Answer {
    Gate gate;                     // the first that failed
    Gate traffic;                  // the answer is right, and what passed between the ranks is not
    std::vector<Reply> replies;    // of the plain call, rank by rank
    std::vector<lab::Mark> marks;  // of a right answer
  };
  // Case `number` of the task, from 1. `again`: it is called once more, with other data.
  Answer judge(const lab::Case& c, std::uint64_t number, bool again);
  // A further plain call of that case, recorded for its timeline.
  std::vector<Reply> recorded(const lab::Case& c, std::uint64_t number);

  // Ends all workers, for the baseline is timed alone first.
  void stop();
  const Explainer& explain() const { return explain_; }
  std::vector<Device*> devices(const lab::Case& c);  // one for each rank; on the emulator all have the same one
  bool sanitizer_gave_up() const { return sanitizer_gave_up_; }
  // The submission's own output: its first 2 KiB and its total length.
  const std::string& output() const { return output_; }
  double output_bytes() const { return output_bytes_; }

 private:
  using ByRanks = std::map<int, std::unique_ptr<SubmissionWorkers>>;  // by number of ranks

  std::unique_ptr<SubmissionWorkers> start(int ranks, bool decoys);
  SubmissionWorkers& workers_of(ByRanks& all, int ranks);
  RankBuffers buffers_of(const lab::Case& c, std::uint64_t number);
  lab::Verdict verify(const lab::Case& c, const RankBuffers& buffers) const;  // of the last run, with its files
  lab::Verdict same_files_and_work(const lab::Case& c, const std::vector<Reply>& replies) const;
  // A plain call with these buffers: what failed before its answer was there.
  Gate share(SubmissionWorkers& workers, const RankBuffers& buffers);
  Gate run(SubmissionWorkers& workers, const lab::Case& c, const RankBuffers& buffers, bool record,
           std::vector<Reply>& replies);
  // Has a check take the times by which it answers, while no process of the submission is there.
  void time_before(const lab::Case& c);
  void make_real_files(const RankBuffers& buffers);
  // The questions of the run that follows, of so many calls.
  void listen(SubmissionWorkers& workers, const lab::Case& c, std::size_t calls);
  // The same, and its answer.
  Gate answered(SubmissionWorkers& workers, const lab::Case& c, const RankBuffers& buffers);
  Gate verified(const lab::Case& c, const RankBuffers& buffers);  // the answer, and the questions of its one call

  // The further questions about a case, after a right or a wrong answer, are in case_questions.cpp.
  bool looks_for_races(const lab::Case& c, double seconds) const;
  Gate sanitized(const lab::Case& c, RankBuffers& buffers, std::uint64_t number);
  Gate waited(const Reply& reply) const;
  // `first`: of the call that was right. `recorded`: whether its counts were taken.
  Gate same_bits(const lab::Case& c, RankBuffers& buffers, std::uint64_t number, const HostCopy& first, bool recorded);
  bool asks_the_host(std::uint64_t bytes_to_host) const;
  Gate with_decoys(const lab::Case& c, RankBuffers& buffers, std::uint64_t number, std::uint64_t bytes_to_host);
  Gate once_more(SubmissionWorkers& workers, const lab::Case& c, std::uint64_t number);
  Gate in_second_build(const lab::Case& c, RankBuffers& buffers, std::uint64_t number);

  const lab::TaskCheck& check_;
  const JudgeOptions& options_;
  Device& device_;
  const fs::path &program_, &elsewhere_, &baseline_;
  std::uint64_t seed_;
  double limit_;
  Explainer explain_;
  JudgeTime& time_;
  ByRanks workers_, sanitizing_;
  std::vector<std::unique_ptr<Device>> more_devices_;  // of ranks 1 and up, on GPUs
  std::uint32_t next_id_ = 1;                          // of a buffer
  int sanitized_cases_ = 0;
  bool sanitizer_gave_up_ = false;
  std::unique_ptr<lab::Stopwatch> stopwatch_;  // of a check that answers by times, on a GPU
  std::optional<Questions> questions_;         // of the last run
  std::unique_ptr<files::Service> files_;      // the same, of a task with files
  std::unique_ptr<RealFiles> real_files_;      // in their place, of a task on the machine's own files
  std::string output_;
  double output_bytes_ = 0;
};

}  // namespace ridge
