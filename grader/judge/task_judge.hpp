// Judges one task of a submission: its cases in turn, then its goals.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/seeds.hpp"
#include "grader/build/compile.hpp"
#include "grader/judge/explain.hpp"
#include "grader/judge/judge.hpp"
#include "grader/machine/device.hpp"
#include "grader/measure/score.hpp"
#include "grader/worker/rank_workers.hpp"
#include "grader/worker/submission.hpp"

namespace ridge {

class TaskJudge {
 public:
  // `worker`, `baseline`, `reference`: programs; the last two for a GPU only, and the last one may be missing.
  TaskJudge(const Lab& lab, const Task& spec, const lab::TaskCheck& check, const JudgeOptions& options, Device& device,
            const fs::path& worker, const fs::path& baseline, const fs::path& reference, std::uint64_t seed)
      : lab_(lab),
        spec_(spec),
        check_(check),
        options_(options),
        device_(device),
        worker_program_(worker),
        baseline_program_(baseline),
        reference_program_(reference),
        seed_(derived_seed(seed, lab.name + "/" + spec.id)),
        limit_(options.time_limit > 0 ? options.time_limit : default_limit(options)),
        explain_(worker, limit_) {}

  TaskResult run();

 private:
  // Seconds. Kernels that GCC has instrumented take up to five times as long.
  static double default_limit(const JudgeOptions& o) {
    if (o.mode == lab::Mode::grade) return 60;
    return o.backend == lab::Backend::cpu && !host_compiler().clang ? 40 : 10;
  }
  // Where inputs are secret: the class of the case and the kind of failure, no value.
  bool quiet() const;
  std::string told(const Gate& g) const;
  std::string told(const lab::Case& c) const;

  void gate(const Gate& g);

  static std::string goal_message(const GoalResult& g);

  // A submission that counts its calls learns nothing from the count. What is timed comes last: correctness first.
  std::vector<lab::Case> in_secret_order(std::vector<lab::Case> cases) const;

  static void keep_middle(std::vector<lab::Case>& cases);

  // Every case in turn; the first failing one ends the task. Correctness before time.
  void judge_cases();

  // Whether host code sees other inputs than those that count.
  bool decoys() const;

  // Whether warps' requests are shown: of public inputs only.
  bool keeps_requests() const;

  std::unique_ptr<SubmissionWorkers> start_workers();

  Reply shared(SubmissionWorkers& worker, const CaseBuffers& buffers);

  // The case once more, under the sanitizer: in a worker of its own, so that what a submission keeps between calls, its
  // counts and its time are those of a plain run. Its finding is about correctness, whatever the output is.
  Gate sanitized(CaseBuffers& buffers, std::uint64_t number, double plain_seconds);

  // Refuses a host that waits or reads where the contract says that it does not.
  Gate waited(const Reply& reply) const;
  // On the emulator the last case that is not measured is called twice, with other data in other buffers: what a
  // submission keeps from one call must not decide the next. On GPUs every timed call shows that.
  std::uint64_t called_again(const std::vector<lab::Case>& cases) const;
  static Gate stale(Gate g);
  Gate once_more(SubmissionWorkers& worker, const lab::Case& c, std::uint64_t number, std::uint32_t& next_id);
  // Whether to look at a case again, with other numbers on the host: task_decoys.cpp.
  bool asks_the_host(std::uint64_t bytes_to_host) const;
  Gate with_decoys(CaseBuffers& buffers, std::uint64_t number, std::uint64_t bytes_to_host);
  Gate ranks_with_decoys(const lab::Case& c, RankWorkers::Buffers& buffers, std::uint64_t bytes_to_host);

  // False: the answer did not come from the device.
  bool take_counts(const lab::Case& c, const Reply& reply);

  // False: a gate failed.
  bool time_measured(const lab::Case& c, std::uint32_t first_id);

  // --- several ranks: task_ranks.cpp
  // "4 GPUs here: not run with 8 ranks"; empty where all numbers of ranks were.
  std::string without_gpus() const;
  // A case of several ranks. False: the task ends here.
  bool judge_ranks(const lab::Case& c, std::uint64_t number, bool again, std::uint32_t& next_id);
  Gate ranks_once_more(RankWorkers& workers, const lab::Case& c, std::uint64_t number, std::uint32_t& next_id);
  RankWorkers& ranks_of(int ranks, std::map<int, std::unique_ptr<RankWorkers>>& all);
  RankWorkers::Buffers rank_buffers(lab::Case c, std::uint64_t number, std::uint32_t& next_id);
  // Ranks on GPUs share them: those of one number end before others start.
  static std::unique_ptr<RankWorkers> start_ranks(const fs::path& program, int ranks);
  // The judge's memory on the GPU of a rank; on the emulator there is one for all.
  Device& device_of(int rank);
  lab::Verdict verify_ranks(const lab::Case& c, const RankWorkers::Buffers& buffers);
  // As sanitized() does for one worker.
  Gate sanitized_ranks(const lab::Case& c, RankWorkers::Buffers& buffers);

  const Lab& lab_;
  const Task& spec_;
  const lab::TaskCheck& check_;
  const JudgeOptions& options_;
  Device& device_;
  fs::path worker_program_, baseline_program_, reference_program_;
  std::uint64_t seed_;
  double limit_;
  Explainer explain_;
  std::string backend_;
  TaskResult task_;
  Measured measured_;
  static constexpr std::uint32_t kIdsOfTiming = 1 << 20;  // buffers of one timed case
  static constexpr double kSanitizedSeconds = 0.1;
  static constexpr double kStartSeconds = 60;  // of a process with a context on a GPU, perhaps one whose driver sleeps
  static constexpr int kSanitizedRanks = 3;    // more have the same code paths, and so have large cases
  std::map<int, std::unique_ptr<RankWorkers>> rank_workers_, sanitizing_ranks_;  // by number of ranks
  std::vector<int> ranks_;                             // numbers of ranks that can be had here
  std::vector<std::unique_ptr<Device>> more_devices_;  // of ranks 1 and up, on GPUs
  Gate traffic_;                                       // the first case in which the wrong messages passed
  std::unique_ptr<SubmissionWorkers> sanitizing_;
  int sanitized_cases_ = 0;
  bool sanitizer_gave_up_ = false;
};

}  // namespace ridge
