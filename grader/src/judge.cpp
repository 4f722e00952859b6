#include "judge.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "buffers.hpp"
#include "calibrate.hpp"
#include "clock.hpp"
#include "counters.hpp"
#include "defence.hpp"
#include "device.hpp"
#include "error.hpp"
#include "feedback.hpp"
#include "gpu_leftovers.hpp"
#include "hashes.hpp"
#include "lab/compare.hpp"
#include "lab/switches.hpp"
#include "rank_timing.hpp"
#include "rank_workers.hpp"
#include "roofline/profile.hpp"
#include "score.hpp"
#include "seeds.hpp"
#include "submission.hpp"
#include "timing.hpp"
#include "worker_process.hpp"

namespace ridge {

namespace {

using lab::Backend;
using lab::Mode;

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
#ifdef RIDGE_DEFENCE_SWITCHES
  // A test looks for it where it must not be.
  if (const char* known = std::getenv("RIDGE_SECRET_SEED")) return std::strtoull(known, nullptr, 10);
#endif
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) throw Error(Exit::environment, "no random numbers", "try again");
  return seed;
}

constexpr std::uint64_t kPublicSeed = 20260101;

struct Gate {
  std::string check;  // empty: passed
  std::string message;
  std::string secret = {};  // what may be said where the inputs are secret; empty: what the check's name says
};

// What a request that did not end well says about the submission.
class Explainer {
 public:
  Explainer(fs::path program, double limit) : program_(std::move(program)), limit_(limit) {}

  Gate operator()(const Reply& r) const {
    switch (r.fate) {
      case Fate::timed_out:
        return {"time-limit",
                fmt::format("did not finish within {:g} s and was stopped: look for a loop that never ends, "
                            "or a barrier that not every thread reaches",
                            limit_)};
      case Fate::flooded:
        return {"output", "printed more than 16 MiB and was stopped: remove the prints"};
      case Fate::memory:
        return {"memory-limit", "held more memory than a submission may and was stopped: free what you allocate"};
      case Fate::protocol:
        return {"run", "the program answered with something that is not an answer"};
      case Fate::crashed:
        if (r.signal == 0) return {"run", fmt::format("the program ended by itself with exit code {}", r.exit_code)};
        return {"run", fmt::format("crashed: {} (signal {}){}", strsignal(r.signal), r.signal,
                                   r.signal == SIGSEGV ? "; on the host side, or with a stack too deep" : "")};
      case Fate::ok:
        break;
    }
    const auto& d = r.done;
    if (d.status == protocol::Status::fault) {
      std::string where = d.file[0] != 0 ? fmt::format("{}:{}", fs::path(d.file).filename().string(), d.line) : "";
      // A leak has two callers: the inner one may be a header's.
      for (std::uint32_t pc : {d.pc, d.kernel[0] == 0 ? d.other_pc : 0})
        if (where.empty() && pc != 0)
          if (auto line = source_lines(program_, {pc})[0]; !line.first.empty())
            where = fmt::format("{}:{}", line.first, line.second);
      if (d.kernel[0] == 0 && d.code == 0 && d.pc == 0 && d.other_pc == 0)
        return {"correct", fmt::format("{}\n    {}", d.what, d.detail), d.what};
      if (d.kernel[0] == 0 && d.code == 0)
        return {"correct",
                fmt::format("{} at {}\n    {}", d.what, where.empty() ? "an unknown line" : where, d.detail)};
      std::string against;
      if (d.other_pc != 0) {
        auto line = source_lines(program_, {d.other_pc})[0];
        against = fmt::format("\n    against the {} at {}", d.other,
                              line.first.empty() ? "an unknown line" : fmt::format("{}:{}", line.first, line.second));
      }
      return {d.code == 0 ? "correct" : "memory",
              fmt::format("{} at {}\n    in kernel {}, block ({},{},{}), thread ({},{},{}){}: {}", d.what,
                          where.empty() ? "an unknown line" : where, d.kernel, d.block[0], d.block[1], d.block[2],
                          d.thread[0], d.thread[1], d.thread[2], against, d.detail),
              fault_class(d, where, program_)};
    }
    if (d.status == protocol::Status::cuda_error) {
      std::string more;
      if (d.code == 9)
        more = "; check the grid and block sizes (at most 1024 threads a block, grid y and z at most 65535)";
      if (d.code == 700) more = "; `ridge check` with --backend cpu names the line";
      return {"launch", fmt::format("{}: {}{}", d.what, d.detail, more), cuda_error_class(d.code) + more};
    }
    if (d.status == protocol::Status::ok) return {};
    return {"run", fmt::format("{} {}", d.what, d.detail)};
  }

 private:
  fs::path program_;
  double limit_;
};

// "[at 0x12f0]" -> "(ring.cu:51)"
std::string with_lines(std::string text, const fs::path& program) {
  constexpr std::string_view kMark = "[at 0x";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos || end - at > 32) break;
    const auto offset = std::strtoull(text.c_str() + at + kMark.size(), nullptr, 16);
    const auto line = source_lines(program, {offset})[0];
    const std::string shown = line.first.empty() ? "" : fmt::format("({}:{})", line.first, line.second);
    text.replace(at, end + 1 - at, shown);
    at += shown.size();
  }
  return text;
}

// What the ranks' replies say. Where several failed, the others may only have missed the one that did first.
Gate explain_ranks(const Explainer& explain, const std::vector<Reply>& replies, RankWorkers& workers,
                   const fs::path& program) {
  Gate best;
  double first = 0;
  for (std::size_t r = 0; r < replies.size(); ++r) {
    Gate g = explain(replies[r]);
    if (g.check.empty()) continue;
    bool cause = true;
    const std::string said = replies[r].fate == Fate::crashed ? workers.report(static_cast<int>(r)) : "";
    const std::size_t at = std::min(said.find("ridge: NCCL: "), said.find("ridge: MPI: "));
    auto says = [&](const char* words) { return said.find(words, at) != std::string::npos; };
    if (at == std::string::npos) {
      g.message = fmt::format("rank {} of {}: {}", r, replies.size(), g.message);
    } else {
      const char* check = says("disagree") ? "mismatch" : says("out of bounds") ? "memory" : "deadlock";
      g = {check, with_lines(said.substr(at, 4096), program)};
      cause = !says("is gone, and others") && !says("another rank has reported why");
    }
    if (replies[r].with_others) cause = false;
    // A fault is the plainest word; what others say may follow from it. Then who was first.
    const double time = replies[r].seconds + (!cause ? 2e6 : g.check != "memory" ? 1e6 : 0);
    if (best.check.empty() || time < first) best = g, first = time;
  }
  return best;
}

lab::Verdict verify_ranks(const lab::TaskCheck& check, const lab::Case& c, const RankWorkers::Buffers& buffers,
                          JudgeTime& time) {
  std::vector<std::span<const std::byte>> in, out;
  std::vector<std::vector<std::byte>> storage;
  storage.reserve(4 * buffers.size());
  for (const CaseBuffers& b : buffers) b.collect(in, out, storage);
  Lap lap(time.verify);
  return check.verify(c, in, out);
}

class TaskJudge {
 public:
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
        limit_(options.time_limit > 0        ? options.time_limit
               : options.mode == Mode::check ? 10
                                             : 60),
        explain_(worker, limit_) {}

  TaskResult run() {
    backend_ = options_.backend == Backend::cpu ? "cpu" : "cuda";
    task_.id = spec_.id;
    task_.title = spec_.title;
    if (!spec_.needs.empty() && !runs_on(spec_.needs, device_.info().compute)) {
      task_.status = "skipped";
      task_.reason = options_.backend == Backend::cpu ? "needs a GPU (" + spec_.needs + ")"
                     : spec_.needs == "emulator"      ? "runs on the emulator only (--backend cpu)"
                                                      : "needs " + spec_.needs;
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
    }
    task_.max = spec_.points(backend_);
    try {
      judge_cases();
    } catch (const Error& e) {
      if (e.code != Exit::failed) throw;
      gate({"run", e.what()});
    }
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

 private:
  // "4 GPUs here: not run with 8 ranks"; empty where all numbers of ranks were.
  std::string without_gpus() const {
    std::vector<int> left;
    for (int p : lab_.ranks)
      if (std::find(ranks_.begin(), ranks_.end(), p) == ranks_.end()) left.push_back(p);
    if (left.empty()) return {};
    return fmt::format("{} GPUs here: skipped with {} ranks", cuda_devices(), fmt::join(left, ", "));
  }

  // Where inputs are secret: the class of the case and the kind of failure, no value.
  bool quiet() const { return options_.mode == Mode::grade && on(Defence::quiet_secrets); }
  std::string told(const Gate& g) const {
    return !quiet() ? g.message : g.secret.empty() ? failure_class(g.check) : g.secret;
  }
  std::string told(const lab::Case& c) const { return quiet() ? case_class(c.name) : c.name; }

  void gate(const Gate& g) { task_.checks.push_back({g.check, false, g.message}); }

  static std::string goal_message(const GoalResult& g) {
    if (!g.value) return g.note.empty() ? "not measured, since the answer is not right yet" : g.note;
    return fmt::format("{:.3g} {}, goal {:g}{}{}", *g.value, g.unit, g.full, g.note.empty() ? "" : "; ", g.note);
  }

  // A submission that counts its calls learns nothing from the count. What is timed comes last: correctness first.
  std::vector<lab::Case> in_secret_order(std::vector<lab::Case> cases) const {
    if (options_.mode == Mode::check || !on(Defence::random_order)) return cases;
    std::size_t n = cases.size();
    while (options_.backend == Backend::cuda && n > 0 && cases[n - 1].measured) --n;
    for (std::size_t i = n; i > 1; --i) std::swap(cases[i - 1], cases[derived_seed(seed_, "order", i) % i]);
    return cases;
  }

  static void keep_middle(std::vector<lab::Case>& cases) {
    const auto count = std::count_if(cases.begin(), cases.end(), [](const lab::Case& c) { return c.measured; });
    std::ptrdiff_t i = 0;
    std::erase_if(cases, [&](const lab::Case& c) { return c.measured && i++ != count / 2; });
  }

  // Every case in turn; the first failing one ends the task. Correctness before time.
  void judge_cases() {
    lab::Request request{options_.sizes.value_or(options_.mode), options_.backend, device_.info().memory / 8,
                         derived_seed(seed_, "shapes"), ranks_};
    std::vector<lab::Case> cases = in_secret_order(check_.cases(request));
    if (options_.one_case) keep_middle(cases);
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
        if (!judge_ranks(c, number, next_id)) return;
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
        reply = worker.run(buffers, 1, c.measured, false, limit_);
        g = explain_(reply);
      }
      if (g.check.empty()) {
        lab::Verdict v = buffers.verify();
        if (options_.sanitize && on(Defence::sanitizer)) g = sanitized(buffers, number, reply.seconds);
        if (!v.ok) g = {"correct", v.message + (g.check.empty() ? "" : "\n" + g.message), v.secret};
      }
      task_.cases.push_back({told(c), g.check.empty(), told(g)});
      if (!g.check.empty()) {
        gate({g.check, fmt::format("{}: {}", told(c), told(g))});
        return;
      }
      if (c.measured && !take_counts(c, reply)) return;
    }
  }

  // A case of several ranks. False: the task ends here.
  bool judge_ranks(const lab::Case& c, std::uint64_t number, std::uint32_t& next_id) {
    RankWorkers& workers = ranks_of(c.ranks, rank_workers_);
    RankWorkers::Buffers buffers = rank_buffers(c, number, next_id);
    Reply reply;
    {
      Lap lap(task_.judge_time.start);
      reply = workers.share(buffers, limit_);
    }
    Gate g = explain_(reply);
    std::vector<Reply> replies;
    if (g.check.empty()) {
      Lap lap(task_.judge_time.run);
      replies = workers.run(buffers, 1, c.measured, false, limit_);
      g = explain_ranks(explain_, replies, workers, worker_program_);
    }
    if (g.check != "deadlock" && g.check != "mismatch") task_.output = workers.output(0).substr(0, 2048);
    if (g.check.empty()) {
      lab::Verdict v = verify_ranks(check_, c, buffers, task_.judge_time);
      const lab::Verdict traffic =
          options_.backend == Backend::cpu ? check_.verify_messages(c, workers.messages()) : lab::Verdict{};
      // Only told where all answers are right.
      if (v.ok && !traffic.ok && traffic_.check.empty())
        traffic_ = {traffic.check, fmt::format("{}: {}", told(c), told({traffic.check, traffic.message}))};
      if (options_.sanitize && on(Defence::sanitizer) && c.ranks <= kSanitizedRanks && !c.measured)
        g = sanitized_ranks(c, buffers);
      if (!v.ok) g = {v.check, v.message + (g.check.empty() ? "" : "\n" + g.message), v.secret};
    }
    task_.cases.push_back({told(c), g.check.empty(), told(g)});
    if (!g.check.empty()) {
      gate({g.check, fmt::format("{}: {}", told(c), told(g))});
      return false;
    }
    if (!c.measured || !traffic_.check.empty()) return true;
    // The slowest rank's counts are the task's.
    const Reply* slowest = nullptr;
    double most = -1;
    for (const Reply& r : replies) {
      task_.ranks.push_back(count_launches(r.launches, worker_program_).timeline);
      if (const double seconds = task_.ranks.back().seconds; seconds > most) most = seconds, slowest = &r;
    }
    return take_counts(c, *slowest);
  }

  // Whether host code sees other inputs than those that count.
  bool decoys() const { return options_.mode == Mode::grade && !check_.host_reads_inputs(); }

  RankWorkers& ranks_of(int ranks, std::map<int, std::unique_ptr<RankWorkers>>& all) {
    std::unique_ptr<RankWorkers>& found = all[ranks];
    Lap lap(task_.judge_time.start);
    if (!found && options_.backend == Backend::cuda) all.clear(), all[ranks] = start_ranks(worker_program_, ranks);
    if (options_.backend == Backend::cuda) return *all[ranks];
    if (!found) found = std::make_unique<RankWorkers>(worker_program_, ranks, options_.backend, decoys());
    return *found;
  }

  RankWorkers::Buffers rank_buffers(lab::Case c, std::uint64_t number, std::uint32_t& next_id) {
    RankWorkers::Buffers all;
    const std::uint32_t first = next_id;
    for (c.rank = 0; c.rank < c.ranks; ++c.rank) {
      all.emplace_back(device_of(c.rank), check_, c,
                       derived_seed(seed_, "case", number * 64 + static_cast<std::uint64_t>(c.rank)), first,
                       task_.judge_time);
      next_id = std::max(next_id, all.back().next_id());
    }
    return all;
  }

  // Ranks on GPUs share them: those of one number end before others start.
  static std::unique_ptr<RankWorkers> start_ranks(const fs::path& program, int ranks) {
    return std::make_unique<RankWorkers>(program, ranks, Backend::cuda, false);
  }

  // The judge's memory on the GPU of a rank; on the emulator there is one for all.
  Device& device_of(int rank) {
    if (options_.backend == Backend::cpu || rank == 0) return device_;
    while (std::ssize(more_devices_) < rank)
      more_devices_.push_back(make_cuda_device(static_cast<int>(more_devices_.size()) + 1));
    return *more_devices_[static_cast<std::size_t>(rank) - 1];
  }

  // As sanitized() does for one worker.
  Gate sanitized_ranks(const lab::Case& c, RankWorkers::Buffers& buffers) {
    RankWorkers& workers = ranks_of(c.ranks, sanitizing_ranks_);
    for (CaseBuffers& b : buffers) b.poison(derived_seed(seed_, "sanitized"));
    Gate g = explain_(workers.share(buffers, limit_));
    if (!g.check.empty()) return g;
    Lap lap(task_.judge_time.run);
    return explain_ranks(explain_, workers.run(buffers, 2, false, true, limit_), workers, worker_program_);
  }

  std::unique_ptr<SubmissionWorkers> start_workers() {
    Lap lap(task_.judge_time.start);
    return std::make_unique<SubmissionWorkers>(worker_program_, options_.backend, decoys());
  }

  Reply shared(SubmissionWorkers& worker, const CaseBuffers& buffers) {
    Lap lap(task_.judge_time.start);
    return worker.share(buffers, limit_);
  }

  // The case once more, under the sanitizer: in a worker of its own, so that what a submission keeps between calls, its
  // counts and its time are those of a plain run. Its finding is about correctness, whatever the output is.
  Gate sanitized(CaseBuffers& buffers, std::uint64_t number, double plain_seconds) {
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

  // False: the answer did not come from the device.
  bool take_counts(const lab::Case& c, const Reply& reply) {
    measured_.work = check_.work(c);
    measured_.bounds = check_.bounds(c);
    measured_.counted = count_launches(reply.launches, worker_program_);
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
    if (std::any_of(spec_.goals.begin(), spec_.goals.end(), [](const Goal& g) {
          return g.metric == "virtual_time_over_bound" || g.metric == "exposed_compute";
        }))
      task_.timeline = measured_.counted->timeline;
    task_.roofline =
        Roofline{measured_.work.operations, measured_.counted->global_sectors * 32,
                 measured_.work.bytes_read + measured_.work.bytes_written, measured_.work.operation_unit, std::nullopt};
    return true;
  }

  // False: a gate failed.
  bool time_measured(const lab::Case& c, std::uint32_t first_id) {
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

#ifdef RIDGE_DEFENCE_SWITCHES
// Tests judge several submissions at once: they build side by side, and use the GPU in turn.
void wait_for_the_gpu() {
  const char* lock = std::getenv("RIDGE_GPU_LOCK");
  const int fd = lock != nullptr ? open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) flock(fd, LOCK_EX);  // until this process ends
}
#else
void wait_for_the_gpu() {}
#endif

// `sources`: the folder that the build took them from.
void describe(Result& r, const Lab& lab, const JudgeOptions& o, const Device& device, const BuiltWorker& built,
              const fs::path& sources) {
  DeviceInfo info = device.info();
  r.device = {{"kind", info.kind}, {"name", info.name}};
  if (info.kind == "gpu") {
    r.device["driver"] = info.driver;
    r.device["runtime"] = info.runtime;
    r.device["clocks"] = info.clocks;
  } else {
    r.device["profile"] = default_profile().id;
  }
  r.compiler = built.compiler;
  r.compiler_flags = built.flags;
  r.build_seconds = built.seconds;
  r.submission_files = submission_hashes(sources, lab);
  r.harness_files = harness_hashes(lab, o.backend);
}

// The roofs to draw: those measured on this device, else the profile's; of the compute roofs those in the unit of the
// tasks' operations. The first of each kind is the one that the tasks are held against.
void add_ceilings(Result& r, const Calibration& machine) {
  std::set<std::string> units;
  for (const auto& t : r.tasks)
    if (t.roofline) units.insert(t.roofline->operation_unit + "/s");
  for (const auto& c : ceilings_of(machine, default_profile()))
    if (c.kind != "compute" || units.empty() || units.count(c.unit) != 0)
      r.ceilings.push_back({c.id, c.kind, c.name, c.unit, c.source, c.value});
  std::stable_partition(r.ceilings.begin(), r.ceilings.end(), [](const Ceiling& c) { return c.kind == "bandwidth"; });
}

// A record of an attempt that the compiler refused: no points, and its messages.
void did_not_build(Result& r, const Lab& lab, const JudgeOptions& o, const std::string& messages) {
  r.outcome = "build-failed";
  r.build_output = messages;
  for (const Task& spec : lab.tasks) {
    if (!o.task.empty() && o.task != spec.id) continue;
    TaskResult t;
    t.id = spec.id;
    t.title = spec.title;
    t.status = "failed";
    t.max = spec.points(r.backend);
    t.checks.push_back({"build", false, "the submission did not build"});
    r.max += t.max;
    r.tasks.push_back(std::move(t));
  }
}

}  // namespace

Result judge(const Lab& lab, const JudgeOptions& o) {
#ifdef RIDGE_DEFENCE_SWITCHES
  lab::switches() = {on(Defence::tolerance), on(Defence::norms), on(Defence::explicit_nan)};
#endif
  lab::TaskChecks checks = lab::checks_of(lab.name);
  if (checks.empty())
    throw Error(Exit::environment, "this ridge was built without the checks of " + lab.name, "run `./ridge build`");
  bool known = o.task.empty();
  for (const auto& t : lab.tasks) known = known || t.id == o.task;
  if (!known) throw Error(Exit::usage, fmt::format("{} has no task '{}'", lab.name, o.task), "`ridge labs` lists them");

  Result r;
  r.attempt = new_attempt_id(r.time);
  r.nonce = new_nonce();
  r.lab = lab.name;
  r.title = lab.title;
  r.mode = o.mode == Mode::check ? "check" : "grade";
  r.backend = o.backend == Backend::cpu ? "cpu" : "cuda";
  r.submission_path = shown(o.submission.dir);
  r.sandbox = sandbox_report();

  std::unique_ptr<Device> device = o.backend == Backend::cpu ? make_cpu_device() : make_cuda_device();
  GpuLeftovers gpu(o.backend == Backend::cuda ? device->info().uuid : "");
  TemporaryDir dir("judge");
  o.progress("building");
  BuiltWorker built;
  try {
    built = build_worker(lab, o.submission, o.backend, dir.path() / "submission");
  } catch (const Error& e) {
    if (e.code != Exit::build) throw;
    describe(r, lab, o, *device, built, dir.path() / "submission/src");
    did_not_build(r, lab, o, e.what());
    return r;
  }
  BuiltWorker baseline, reference;
  if (o.backend == Backend::cuda) {
    if (!o.reference.dir.empty()) reference = build_worker(lab, o.reference, o.backend, dir.path() / "reference");
    baseline = o.baseline != nullptr ? *o.baseline : build_baseline(lab, dir.path() / "baseline");
    wait_for_the_gpu();
    try {  // a machine on which this does not start is not the submission's fault
      WorkerProcess probe(baseline.program, 60, {.gpu = true});
    } catch (const Error& e) {
      throw Error(Exit::environment, std::string("the baseline's worker: ") + e.what(), "run `ridge doctor`");
    }
  }
  describe(r, lab, o, *device, built, dir.path() / "submission/src");

  double start = now();
  std::uint64_t seed = o.mode == Mode::check || !on(Defence::secret_seeds) ? kPublicSeed : secret_seed();
  for (const Task& spec : lab.tasks) {
    if (!o.task.empty() && o.task != spec.id) continue;
    for (const auto& check : checks)
      if (check->id() == spec.id)
        r.tasks.push_back(
            TaskJudge(lab, spec, *check, o, *device, built.program, baseline.program, reference.program, seed).run());
  }
  r.run_seconds = now() - start;
  r.outcome = "passed";
  double all = 0;
  for (const Task& spec : lab.tasks)
    all += spec.points(spec.needs.empty() || spec.needs == "emulator" ? r.backend : "cuda");
  for (const auto& t : r.tasks) {
    r.points += t.points;
    r.max += t.max;
    if (t.status == "failed") r.outcome = "failed";
  }
  if (r.max == 0 && r.outcome == "passed") r.outcome = "skipped";
  r.coverage = all > 0 ? r.max / all : 0;
  add_ceilings(r, o.machine);
  if (std::string left = sandbox_leftovers() + gpu.find(); !left.empty())
    r.sandbox.push_back({"clean-up", false, true, "left behind: " + left});
  return r;
}

}  // namespace ridge
