#include "grader/judge/task_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/measure/counters.hpp"
#include "grader/measure/rank_timing.hpp"
#include "grader/measure/timing.hpp"
#include "grader/measure/warp_file.hpp"
#include "grader/worker/buffers.hpp"

namespace ridge {

using lab::Backend;
using lab::Mode;

TaskResult TaskJudge::run() {
  backend_ = options_.backend == Backend::cpu ? "cpu" : "cuda";
  task_.id = spec_.id;
  task_.title = spec_.title;
  if (!spec_.needs.empty() && !runs_on(spec_.needs, device_.info().compute)) {
    task_.status = "skipped";
    task_.reason = options_.backend == Backend::cpu ? "needs a GPU (" + spec_.needs + ")" : "needs " + spec_.needs;
    return task_;
  }
  if (options_.backend == Backend::cuda && !lab_.ranks.empty()) {
    for (int p : lab_.ranks)
      if (p <= cuda_devices()) ranks_.push_back(p);
    if (ranks_.empty() || ranks_.back() < 2) {
      task_.status = "skipped";
      task_.reason = fmt::format("needs 2 GPUs or more, {} here", cuda_devices() == 1 ? "1 is" : "none is");
      return task_;
    }
  } else {
    ranks_ = lab_.ranks;
    if (options_.as_gpus > 0) std::erase_if(ranks_, [&](int p) { return p > options_.as_gpus; });
  }
  task_.max = spec_.points(backend_);
  try {
    judge_cases();
  } catch (const Error& e) {
    if (e.code != Exit::failed) throw;
    gate({"run", e.what()});
  }
  if (options_.as_gpus > 0) return task_;  // goals are for the emulator's own cases
  bool correct = task_.checks.empty();
  if (correct)
    task_.checks.push_back(
        {"correct", true,
         sanitizer_gave_up_ ? "races were not looked for in every case: that took too long" : without_gpus()});
  score_goals(task_, spec_, backend_, measured_, correct);
  for (const auto& g : task_.goals) task_.checks.push_back({g.id, g.met, g.met ? "" : goal_message(g)});
  for (const auto& c : task_.checks)
    if (!c.passed) task_.status = "failed";
  return task_;
}

bool TaskJudge::quiet() const { return options_.mode == Mode::grade && on(Defence::quiet_secrets); }

std::string TaskJudge::told(const Gate& g) const {
  return !quiet() ? g.message : g.secret.empty() ? failure_class(g.check) : g.secret;
}

std::string TaskJudge::told(const lab::Case& c) const { return quiet() ? case_class(c.name) : c.name; }

void TaskJudge::gate(const Gate& g) { task_.checks.push_back({g.check, false, g.message}); }

std::string TaskJudge::goal_message(const GoalResult& g) {
  if (!g.value) return g.note.empty() ? "not measured, since the answer is not right yet" : g.note;
  return fmt::format("{:.3g} {}, goal {:g}{}{}", *g.value, g.unit, g.full, g.note.empty() ? "" : "; ", g.note);
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

void TaskJudge::keep_middle(std::vector<lab::Case>& cases) {
  const auto count = std::count_if(cases.begin(), cases.end(), [](const lab::Case& c) { return c.measured; });
  std::ptrdiff_t i = 0;
  std::erase_if(cases, [&](const lab::Case& c) { return c.measured && i++ != count / 2; });
}

void TaskJudge::judge_cases() {
  lab::Request request{options_.sizes.value_or(options_.mode), options_.as_gpus > 0 ? Backend::cuda : options_.backend,
                       device_.info().memory / 8, derived_seed(seed_, "shapes"), ranks_};
  std::vector<lab::Case> cases = in_secret_order(check_.cases(request));
  if (options_.one_case) keep_middle(cases);
  if (options_.as_gpus > 0) {
    std::erase_if(cases, [](const lab::Case& c) { return !c.measured; });
    for (lab::Case& c : cases) c.topology.clear(), c.node = 0;
  }
  std::unique_ptr<SubmissionWorkers> workers;
  // Whatever ends this task, what the submission printed so far is kept.
  struct KeepOutput {
    std::unique_ptr<SubmissionWorkers>& workers;
    TaskResult& task;
    ~KeepOutput() { keep(); }
    void keep() {
      if (!workers) return;
      task.output = workers->output().substr(0, 2048);
      task.output_bytes = static_cast<double>(workers->first().printed());
    }
  } keep{workers, task_};
  std::uint32_t next_id = 1;
  std::uint64_t number = 0;
  const std::uint64_t again = called_again(cases);
  for (const auto& c : cases) {
    ++number;
    options_.progress(fmt::format("{}: {}", spec_.id, c.name));
    if (c.measured && options_.backend == Backend::cuda) {
      keep.keep();
      workers.reset();  // the baseline is timed alone first
      rank_workers_.clear();
      if (!time_measured(c, next_id)) return;
      next_id += kIdsOfTiming;
      continue;
    }
    if (c.ranks > 0) {
      if (!judge_ranks(c, number, number == again, next_id)) return;
      if (&c == &cases.back() && !traffic_.check.empty()) gate(traffic_);
      continue;
    }
    if (!workers) workers = start_workers();
    SubmissionWorkers& worker = *workers;
    CaseBuffers buffers(device_, check_, c, derived_seed(seed_, "case", number), next_id, task_.judge_time);
    next_id = buffers.next_id();
    Gate g = explain_(shared(worker, buffers));
    Reply reply;
    if (g.check.empty()) {
      Lap lap(task_.judge_time.run);
      if (keeps_requests()) worker.keep_requests();
      reply = worker.run(buffers, 1, c.measured, false, limit_);
      g = explain_(reply);
    }
    if (g.check.empty()) {
      lab::Verdict v = buffers.verify();
      if (options_.sanitize && on(Defence::sanitizer)) g = sanitized(buffers, number, reply.seconds);
      if (v.ok && g.check.empty()) g = waited(reply);
      if (v.ok && g.check.empty() && asks_the_host(reply.done.to_host))
        g = with_decoys(buffers, number, reply.done.to_host);
      if (!v.ok) g = {v.check, v.message + (g.check.empty() ? "" : "\n" + g.message), v.secret};
      if (g.check.empty() && number == again) g = once_more(worker, c, number, next_id);
    }
    task_.cases.push_back({told(c), g.check.empty(), told(g)});
    if (!g.check.empty()) {
      gate({g.check, fmt::format("{}: {}", told(c), told(g))});
      return;
    }
    if (c.measured && !take_counts(c, reply)) return;
  }
}

// The last case that is not measured: the number of it, from 1; 0: none.
std::uint64_t TaskJudge::called_again(const std::vector<lab::Case>& cases) const {
  if (options_.backend == Backend::cuda) return 0;  // what is timed there is called often, and looked at
  std::uint64_t last = 0, number = 0;
  for (const lab::Case& c : cases) {
    ++number;
    if (!c.measured) last = number;
  }
  return last;
}

Gate TaskJudge::stale(Gate g) {
  if (!g.check.empty())
    g.message =
        "when it is called again, with other data in other buffers of the same sizes: " + g.message +
        ". The first call was right: what is kept from it (a graph, a result, an address) does not fit the next";
  return g;
}

// A second call with other data in other buffers of the same sizes, by the same process.
Gate TaskJudge::once_more(SubmissionWorkers& worker, const lab::Case& c, std::uint64_t number, std::uint32_t& next_id) {
  CaseBuffers buffers(device_, check_, c, derived_seed(seed_, "again", number), next_id, task_.judge_time);
  next_id = buffers.next_id();
  Gate g = explain_(shared(worker, buffers));
  if (!g.check.empty()) return g;
  auto call = [&](SubmissionWorkers& by) {
    Lap lap(task_.judge_time.run);
    Gate called = explain_(by.run(buffers, 1, false, false, limit_));
    if (called.check.empty())
      if (lab::Verdict v = buffers.verify(); !v.ok) called = {v.check, v.message, v.secret};
    return called;
  };
  g = call(worker);
  if (g.check.empty()) return {};
  // Where a new process fails as well, it is the data.
  const auto fresh = start_workers();
  buffers.poison(derived_seed(seed_, "fresh", number));
  if (Gate shown = explain_(shared(*fresh, buffers)); !shown.check.empty()) return shown;
  const Gate alone = call(*fresh);
  return alone.check.empty() ? stale(std::move(g)) : alone;
}

Gate TaskJudge::waited(const Reply& reply) const {
  if (!check_.host_may_read() && reply.done.to_host > 0)
    return {"device",
            fmt::format("{} bytes were copied back to the host, and the contract says that nothing is: what depends on "
                        "values is decided by a kernel",
                        reply.done.to_host),
            "something is read back to the host, and the contract says that nothing is"};
  if (check_.host_may_wait() || reply.done.host_wait[0] == 0) return {};
  const std::string call = with_lines(reply.done.host_wait, worker_program_);
  if (call.find("(entry.cu:") != std::string::npos) return {};  // the lab's own, behind the submission's call
  return {"device",
          fmt::format(
              "the host waits for the device in {}, and the contract says that it waits for nothing: let a stream wait "
              "for an event instead",
              printable(call)),
          "the host waits for the device, and the contract says that it waits for nothing"};
}

bool TaskJudge::decoys() const { return options_.mode == Mode::grade && !check_.host_reads_inputs(); }

bool TaskJudge::keeps_requests() const { return options_.mode == Mode::check && !options_.sizes; }

std::unique_ptr<SubmissionWorkers> TaskJudge::start_workers() {
  Lap lap(task_.judge_time.start);
  return std::make_unique<SubmissionWorkers>(worker_program_, options_.backend, decoys());
}

Reply TaskJudge::shared(SubmissionWorkers& worker, const CaseBuffers& buffers) {
  Lap lap(task_.judge_time.start);
  return worker.share(buffers, limit_);
}

Gate TaskJudge::sanitized(CaseBuffers& buffers, std::uint64_t number, double plain_seconds) {
  // Small cases have the same code paths; one that takes long is left out where another was not.
  if (sanitizer_gave_up_ || (plain_seconds > kSanitizedSeconds && sanitized_cases_ > 0)) return {};
  if (!sanitizing_) sanitizing_ = start_workers();
  buffers.poison(derived_seed(seed_, "case", number));
  Gate g = explain_(shared(*sanitizing_, buffers));
  if (!g.check.empty()) return g;
  Lap lap(task_.judge_time.run);
  Reply reply = sanitizing_->run(buffers, 2, false, true, limit_);  // twice: leaks
  if (reply.fate == Fate::timed_out && (reply.replayed || !on(Defence::replay))) {
    // The kernels ended in time without the sanitizer: slow, not wrong.
    sanitizer_gave_up_ = true;
    return {};
  }
  ++sanitized_cases_;
  return explain_(reply);
}

bool TaskJudge::take_counts(const lab::Case& c, const Reply& reply) {
  measured_.work = check_.work(c);
  measured_.bounds = check_.bounds(c);
  measured_.counted = count_launches(reply.launches, worker_program_);
  measured_.ranks = task_.ranks;
  const double handed = measured_.counted->from_host, most = check_.bytes_from_host(c);
  if (on(Defence::counted_copies) && handed > most) {
    Gate g{"device", fmt::format("{:.0f} bytes came from the host (copies, pinned and managed memory, arguments), "
                                 "where {:.0f} are expected at most: the work must be done by kernels",
                                 handed, most)};
    gate({g.check, told(c) + ": " + told(g)});
    measured_.counted.reset();
    return false;
  }
  task_.kernels = measured_.counted->kernels;
  if (keeps_requests())
    task_.warp = warp_file(reply.launches, worker_program_, {options_.submission.dir, root_dir() / "labs" / lab_.name});
  if (std::any_of(spec_.goals.begin(), spec_.goals.end(), [](const Goal& g) { return needs_timeline(g.metric); }))
    task_.timeline = measured_.counted->timeline;
  task_.roofline =
      Roofline{measured_.work.operations, measured_.counted->global_sectors * 32,
               measured_.work.bytes_read + measured_.work.bytes_written, measured_.work.operation_unit, std::nullopt};
  return true;
}

bool TaskJudge::time_measured(const lab::Case& c, std::uint32_t first_id) {
  TimedOptions timed;
  timed.stop = options_.mode == Mode::check ? StopRule{5, 9, 8, 0.03} : StopRule{7, 60, 45, 0.01};
  if (options_.sizes.value_or(options_.mode) == Mode::check) timed.turn_seconds = 0.002;
  timed.limit_seconds = limit_;
  timed.seed = derived_seed(seed_, "timed");
  timed.machine = options_.machine;
  timed.explain = [this](const Reply& r) { return explain_(r).message; };
  timed.progress = [&](const std::string& text) {
    options_.progress(fmt::format("{}: {}, {}", spec_.id, c.name, text));
  };
  auto starter = [](const fs::path& program) {
    StartWorker start = [program] {
      return std::make_unique<WorkerProcess>(program, kStartSeconds, WorkerOptions{.gpu = true});
    };
    return program.empty() ? StartWorker() : start;
  };
  auto starter_of_ranks = [&c](const fs::path& program) {
    return [program, &c] { return start_ranks(program, c.ranks); };
  };
  Contestants who{starter(worker_program_), starter(baseline_program_), starter(reference_program_)};
  std::vector<Device*> devices;
  for (int r = 0; r < c.ranks; ++r) devices.push_back(&device_of(r));
  TimedRun run = c.ranks > 0 ? time_ranks(devices, check_, c, starter_of_ranks(worker_program_),
                                          starter_of_ranks(baseline_program_), first_id, timed)
                             : time_case(device_, check_, c, who, first_id, timed);
  task_.judge_time += run.timing.judge;
  Gate g = run.ok ? Gate{} : Gate{run.check, run.message, run.secret};
  task_.cases.push_back({told(c), run.ok, told(g)});
  if (!run.ok) {
    gate({g.check, told(g)});
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
