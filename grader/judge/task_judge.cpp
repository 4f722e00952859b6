#include "grader/judge/task_judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/measure/counters.hpp"
#include "grader/measure/score.hpp"
#include "grader/measure/timing.hpp"
#include "grader/measure/warp_file.hpp"

namespace ridge {

using lab::Backend;
using lab::Mode;

std::string TaskJudge::why_skipped() {
  const bool gpu = options_.backend == Backend::cuda;
  if (!gpu && !spec_.runs_emulated()) return "needs a GPU (" + spec_.needs + ")";
  if (gpu && !spec_.needs.empty() && !runs_on(spec_.needs, device_.info().compute)) return "needs " + spec_.needs;
  if (const auto* by_times = dynamic_cast<const lab::AnswersByTimes*>(&check_); gpu && by_times != nullptr)
    if (std::string why = by_times->why_not_on(device_.info().compute); !why.empty()) return why;
  if (const auto* with_files = dynamic_cast<const lab::UsesFiles*>(&check_);
      gpu && with_files != nullptr && with_files->on_real_files())
    if (const std::string why = RealFiles::why_not(); !why.empty()) return "cannot run here: " + why;
  ranks_ = spec_.ranks;
  if (options_.ranks.as_gpus > 0) std::erase_if(ranks_, [&](int p) { return p > options_.ranks.as_gpus; });
  if (!gpu || spec_.ranks.empty()) return {};
  std::erase_if(ranks_, [](int p) { return p > cuda_devices(); });
  if (!ranks_.empty() && ranks_.back() >= 2) return {};
  return fmt::format("needs 2 GPUs or more, {} here", cuda_devices() == 1 ? "1 is" : "none is");
}

TaskResult TaskJudge::run() {
  task_.id = spec_.id;
  task_.title = spec_.title;
  task_.reason = why_skipped();
  if (!task_.reason.empty()) {
    task_.status = Status::skipped;
    return task_;
  }
  task_.max = spec_.points(options_.backend);
  try {
    judge_cases();
  } catch (const Error& e) {
    if (e.code != Exit::failed) throw;
    task_.checks.push_back({"run", false, e.what()});
  }
  task_.output = cases_.output();
  task_.output_bytes = cases_.output_bytes();
  if (options_.ranks.as_gpus > 0) return task_;  // goals are for the emulator's own cases
  bool correct = task_.checks.empty();
  if (correct)
    task_.checks.push_back(
        {"correct", true,
         cases_.sanitizer_gave_up() ? "races were not looked for in every case: that took too long" : without_gpus()});
  score_goals(task_, spec_, options_.backend, measured_, correct);
  for (const auto& g : task_.goals) task_.checks.push_back({g.id, g.met, g.met ? "" : goal_message(g)});
  for (const auto& c : task_.checks)
    if (!c.passed) task_.status = Status::failed;
  return task_;
}

std::string TaskJudge::without_gpus() const {
  std::vector<int> left;
  for (int p : spec_.ranks)
    if (std::find(ranks_.begin(), ranks_.end(), p) == ranks_.end()) left.push_back(p);
  if (left.empty()) return {};
  return fmt::format("{} GPUs here: skipped with {} ranks", cuda_devices(), fmt::join(left, ", "));
}

bool TaskJudge::quiet() const { return options_.mode == Mode::grade && on(Defence::quiet_secrets); }

std::string TaskJudge::told(const Gate& g) const {
  return !quiet() ? g.message : g.secret.empty() ? failure_class(g.check) : g.secret;
}

std::string TaskJudge::told(const lab::Case& c) const { return quiet() ? case_class(c.name) : c.name; }

// If the inputs are secret, the message must not reveal their values.
CheckResult TaskJudge::failed(const Gate& g, const std::string& message) const {
  const bool hidden = quiet() && (g.secret.empty() || of_answers(g.cause));
  return {g.check, false, message, hidden ? Cause::none : g.cause, quiet() ? std::string() : g.picture};
}

void TaskJudge::fail(const Gate& g, const lab::Case& c) {
  task_.checks.push_back(failed(g, fmt::format("{}: {}", told(c), told(g))));
}

std::string TaskJudge::goal_message(const GoalResult& g) {
  if (!g.value) return g.note.empty() ? "not measured, since the answer is not right yet" : g.note;
  return fmt::format("{} {}, goal {:g}{}{}", value_text(*g.value, g.full), g.unit, g.full, g.note.empty() ? "" : "; ",
                     g.note);
}

std::vector<lab::Case> TaskJudge::in_secret_order(std::vector<lab::Case> cases) const {
  if (options_.mode == Mode::check || !on(Defence::random_order)) return cases;
  std::size_t n = cases.size();
  while (options_.backend == Backend::cuda && n > 0 && cases[n - 1].measured) --n;
  for (std::size_t i = n; i > 1; --i) std::swap(cases[i - 1], cases[derived_seed(seed_, "order", i) % i]);
  // Another number of ranks is another set of processes, and on GPUs each set takes seconds to start.
  auto group = [&](const lab::Case& c) { return derived_seed(seed_, "group", static_cast<std::uint64_t>(c.ranks)); };
  if (options_.backend == Backend::cuda)
    std::stable_sort(cases.begin(), cases.begin() + static_cast<std::ptrdiff_t>(n),
                     [&](const lab::Case& a, const lab::Case& b) { return group(a) < group(b); });
  return cases;
}

std::vector<lab::Case> TaskJudge::chosen_cases() const {
  const lab::Request request{options_.sizes(), options_.ranks.as_gpus > 0 ? Backend::cuda : options_.backend,
                             device_.info().memory / 8, derived_seed(seed_, "shapes"), ranks_};
  std::vector<lab::Case> cases = in_secret_order(check_.cases(request));
  if (options_.step.one_case) {  // of several measured ones the one in the middle
    const auto measured = std::count_if(cases.begin(), cases.end(), [](const lab::Case& c) { return c.measured; });
    std::ptrdiff_t i = 0;
    std::erase_if(cases, [&](const lab::Case& c) { return c.measured && i++ != measured / 2; });
  }
  if (options_.ranks.as_gpus > 0) {
    std::erase_if(cases, [](const lab::Case& c) { return !c.measured; });
    for (lab::Case& c : cases) c.topology.clear(), c.node = 0;
  }
  return cases;
}

void TaskJudge::judge_cases() {
  const std::vector<lab::Case> cases = chosen_cases();
  const std::uint64_t again = called_again(cases);
  for (std::uint64_t number = 1; number <= cases.size(); ++number) {
    const lab::Case& c = cases[number - 1];
    options_.progress(fmt::format("{}: {}", spec_.id, c.name));
    const bool timed = c.measured && options_.backend == Backend::cuda;
    if (timed) cases_.stop();
    if (timed ? !time_measured(c) : !judge_answer(c, number, number == again)) return;
  }
  if (!traffic_.name.empty()) task_.checks.push_back(traffic_);
}

bool TaskJudge::judge_answer(const lab::Case& c, std::uint64_t number, bool again) {
  const CaseJudge::Answer answer = cases_.judge(c, number, again);
  // Only told where all answers are right.
  if (const Gate& t = answer.traffic; !t.check.empty() && traffic_.name.empty())
    traffic_ = failed(t, fmt::format("{}: {}", told(c), told(t)));
  const Gate& g = answer.gate;
  task_.cases.push_back({told(c), g.check.empty(), told(g)});
  if (!g.check.empty()) {
    fail(g, c);
    show_wrong(c, number, answer.replies);
    return false;
  }
  for (lab::Mark mark : answer.marks) {
    if (quiet()) mark.message = mark.secret;
    measured_.marks.push_back(std::move(mark));
  }
  return !c.measured || !traffic_.name.empty() || take_counts(c, answer.replies);
}

bool TaskJudge::in_virtual_time() const {
  return std::any_of(spec_.goals.begin(), spec_.goals.end(), [](const Goal& g) { return needs_timeline(g.metric); });
}

void TaskJudge::show_wrong(const lab::Case& c, std::uint64_t number, const std::vector<Reply>& replies) {
  const auto ended = [](const Reply& r) {
    return r.fate == Fate::ok &&
           (r.done.status == protocol::Status::ok || cause_of(r.done.cause) == Cause::race_streams);
  };
  if (!keeps_requests(options_) || options_.backend != Backend::cpu || !in_virtual_time() || replies.empty() ||
      !std::all_of(replies.begin(), replies.end(), ended))
    return;
  const std::vector<Reply> again = c.measured ? std::vector<Reply>{} : cases_.recorded(c, number);
  for (const Reply& r : c.measured ? replies : again) {
    Timeline t = count_launches(r.launches, programs_.worker).timeline;
    if (t.items.empty()) continue;
    t.wrong_case = told(c);
    if (!task_.timeline || t.seconds > task_.timeline->seconds) task_.timeline = t;
    if (c.ranks > 0) task_.ranks.push_back(std::move(t));
  }
}

std::uint64_t TaskJudge::called_again(const std::vector<lab::Case>& cases) const {
  if (options_.backend == Backend::cuda) return 0;  // what is timed there is called often, and looked at
  std::uint64_t last = 0, number = 0;
  for (const lab::Case& c : cases) {
    ++number;
    if (!c.measured) last = number;
  }
  return last;
}

bool TaskJudge::take_counts(const lab::Case& c, const std::vector<Reply>& replies) {
  // The slowest rank's counts are the task's.
  const Reply* slowest = &replies.front();
  double longest = -1;
  for (const Reply& r : replies) {
    if (c.ranks == 0) break;
    task_.ranks.push_back(count_launches(r.launches, programs_.worker).timeline);
    if (const double seconds = task_.ranks.back().seconds; seconds > longest) longest = seconds, slowest = &r;
  }
  measured_.work = check_.work(c);
  measured_.bounds = check_.bounds(c);
  measured_.counted = count_launches(slowest->launches, programs_.worker);
  measured_.ranks = task_.ranks;
  const double handed = measured_.counted->from_host, most = check_.bytes_from_host(c);
  if (on(Defence::counted_copies) && handed > most) {
    Gate g{"device", fmt::format("{:.0f} bytes came from the host (copies, pinned and managed memory, arguments), "
                                 "where {:.0f} are expected at most: the work must be done by kernels",
                                 handed, most)};
    fail(g, c);
    measured_.counted.reset();
    return false;
  }
  task_.kernels = measured_.counted->kernels;
  if (keeps_requests(options_) && c.ranks == 0)
    task_.warp =
        warp_file(slowest->launches, programs_.worker, {options_.submission.dir, root_dir() / "labs" / lab_.name});
  if (in_virtual_time()) task_.timeline = measured_.counted->timeline;
  task_.roofline =
      Roofline{measured_.work.operations, measured_.counted->global_sectors * 32,
               measured_.work.bytes_read + measured_.work.bytes_written, measured_.work.operation_unit, std::nullopt};
  return true;
}

// Whether no further turn can change the points: those that the ratio to the baseline earns.
bool TaskJudge::earns_the_same(const Interval& ratio) const {
  return std::all_of(spec_.goals.begin(), spec_.goals.end(), [&](const Goal& g) {
    return g.backend != Backend::cuda ||
           (g.metric == "ratio_to_baseline" && points_for(g, ratio.low) == points_for(g, ratio.high));
  });
}

bool TaskJudge::time_measured(const lab::Case& c) {
  TimedOptions timed;
  timed.stop = options_.mode == Mode::check ? StopRule{5, 9, 8, 0.03} : StopRule{7, 60, 45, 0.01};
  // Six values are the fewest whose least and greatest hold the median in 95% of cases; the bootstrap's lie within.
  if (options_.mode == Mode::grade && !options_.timed.narrow) timed.stop.least = 6;
  if (!options_.timed.narrow) timed.stop.settled = [this](const Interval& ratio) { return earns_the_same(ratio); };
  if (options_.sizes() == Mode::check) timed.turn_seconds = 0.002;
  timed.limit_seconds = limit_;
  timed.seed = derived_seed(seed_, "timed");
  timed.machine = options_.timed.machine;
  timed.explain = [this](const Reply& r) { return cases_.explain()(r).message; };
  timed.progress = [&](const std::string& text) {
    options_.progress(fmt::format("{}: {}, {}", spec_.id, c.name, text));
  };
  auto starter = [&c](const fs::path& program) {
    StartWorkers start = [program, ranks = c.ranks] {
      return std::make_unique<SubmissionWorkers>(program, ranks, Backend::cuda, false);
    };
    return program.empty() ? StartWorkers() : start;
  };
  const Contestants who{starter(programs_.worker), starter(programs_.baseline), starter(programs_.reference)};
  TimedRun run = time_case(cases_.devices(c), check_, c, who, timed);
  task_.judge_time += run.timing.judge;
  Gate g = run.ok ? Gate{} : Gate{run.check, run.message, run.secret, run.cause};
  task_.cases.push_back({told(c), run.ok, told(g)});
  if (!run.ok) {
    task_.checks.push_back(failed(g, told(g)));
    return false;
  }
  const lab::Work work = check_.work(c);
  const double bytes = work.bytes_read + work.bytes_written;
  run.timing.name = c.name;  // measured sizes are public
  run.timing.bytes = bytes;
  run.timing.operations = work.operations;
  task_.timings.push_back(run.timing);
  measured_.timings = task_.timings;
  if (worst_timing(task_.timings) != &task_.timings.back()) return true;
  measured_.work = work;
  task_.roofline = Roofline{work.operations, bytes, bytes, work.operation_unit, median(run.timing.submission_s)};
  return true;
}

}  // namespace ridge
