// Judges one task of a submission: its cases in turn, correctness before time, then its goals.
#pragma once
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/seeds.hpp"
#include "grader/compile/compile.hpp"
#include "grader/judge/case_judge.hpp"
#include "grader/judge/judge.hpp"
#include "grader/machine/device.hpp"
#include "grader/measure/score.hpp"

namespace ridge {

// The programs that take part in a task.
struct TaskPrograms {
  fs::path worker;     // the submission's
  fs::path elsewhere;  // a second build of it; may be missing
  fs::path baseline;   // the baseline's program; on a GPU only
  fs::path reference;  // may be missing
};

class TaskJudge {
 public:
  TaskJudge(const Lab& lab, const Task& spec, const lab::TaskCheck& check, const JudgeOptions& options, Device& device,
            const TaskPrograms& programs, std::uint64_t seed)
      : lab_(lab),
        spec_(spec),
        check_(check),
        options_(options),
        device_(device),
        programs_(programs),
        seed_(derived_seed(seed, lab.name + "/" + spec.id)),
        limit_(options.time_limit > 0 ? options.time_limit : default_limit(options)),
        cases_(check, options, device, programs_.worker, programs_.elsewhere, programs_.baseline, seed_, limit_,
               task_.judge_time) {}

  TaskResult run();

 private:
  // Seconds. Kernels that GCC has instrumented take up to five times as long.
  static double default_limit(const JudgeOptions& o) {
    if (o.mode == lab::Mode::grade) return 60;
    return o.backend == lab::Backend::cpu && !host_compiler().clang ? 40 : 10;
  }

  // Why the task can't be judged here; empty where it can. Finds the numbers of ranks that can be had.
  std::string why_skipped();
  // "4 GPUs here: skipped with 8 ranks"; empty where all numbers of ranks were judged.
  std::string without_gpus() const;

  // True where inputs are secret. Messages then name the class of the case and the kind of failure, and no value.
  bool quiet() const;
  std::string told(const Gate& g) const;
  CheckResult failed(const Gate& g, const std::string& message) const;
  std::string told(const lab::Case& c) const;
  void fail(const Gate& g, const lab::Case& c);
  static std::string goal_message(const GoalResult& g);

  // A submission that counts its calls learns nothing from the count. What is timed comes last: correctness first.
  std::vector<lab::Case> in_secret_order(std::vector<lab::Case> cases) const;
  std::vector<lab::Case> chosen_cases() const;
  // On the emulator the last case that is not measured is called twice, with other data in other buffers: what a
  // submission keeps from one call must not decide the next. On GPUs every timed call shows that. From 1; 0: none.
  std::uint64_t called_again(const std::vector<lab::Case>& cases) const;

  // Every case in turn; the first failing one ends the task.
  void judge_cases();
  // False: the task ends here.
  bool judge_answer(const lab::Case& c, std::uint64_t number, bool again);
  bool in_virtual_time() const;  // a goal is
  // The timeline of a case whose answer is wrong, where the goals are in virtual time and the inputs are public.
  void show_wrong(const lab::Case& c, std::uint64_t number, const std::vector<Reply>& replies);
  // Takes the counts of the measured case on the emulator. False means that the answer did not come from the device.
  bool take_counts(const lab::Case& c, const std::vector<Reply>& replies);
  // False: a gate failed.
  bool earns_the_same(const Interval& ratio) const;
  bool time_measured(const lab::Case& c);

  const Lab& lab_;
  const Task& spec_;
  const lab::TaskCheck& check_;
  const JudgeOptions& options_;
  Device& device_;
  TaskPrograms programs_;
  std::uint64_t seed_;
  double limit_;
  TaskResult task_;
  CaseJudge cases_;
  Measured measured_;
  std::vector<int> ranks_;  // numbers of ranks that can be had here
  CheckResult traffic_;     // the first case in which the wrong transfers passed between ranks; no name: none
};

}  // namespace ridge
