// A session of turns: the processes of the submission, of the baseline and of the reference solution on one set of
// buffers. One worker is the case of one rank.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"
#include "grader/machine/large_pages.hpp"
#include "grader/machine/nvml.hpp"
#include "grader/measure/roofline_floor.hpp"
#include "grader/measure/timed_sets.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/measure/timing.hpp"
#include "grader/worker/real_files.hpp"

namespace ridge {

using namespace timed;

namespace {

constexpr int kMostRepeated = 10;
constexpr int kMostSetsOfRanks = 32;  // inputs and answers of all ranks pass through the host
constexpr int kEmptyRequests = 11;
constexpr double kSlowedStorage = 2;  // TimedOptions::slowed_baseline on the machine's own files, whose times vary more

class Session {
 public:
  Session(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c, const Contestants& who,
          const TimedOptions& options)
      : devices_(devices),
        check_(check),
        case_(c),
        who_(who),
        options_(options),
        info_(devices[0]->info()),
        sets_(devices, check, c, options.seed, timing_.judge) {
    if (on_real_files()) real_files_ = std::make_unique<RealFiles>();
    for (const Device* device : devices) monitors_.push_back(std::make_unique<GpuMonitor>(device->info().uuid));
  }

  TimedRun run() {
    TimedRun run;
    try {
      prepare();
      turns_beside(timing_, alone_,
                   {[this] { turns(); }, [this] { leave(); }, [this] { enter(); },
                    [this](std::vector<double>& seconds) { alone(seconds); }},
                   real_files_ ? std::max(kSlowedStorage, options_.slowed_baseline) : options_.slowed_baseline);
      judge();
    } catch (const Failed& f) {
      run.ok = false;
      run.check = f.check;
      run.message = f.message;
      run.secret = f.secret;
      run.cause = f.cause;
    }
    run.timing = std::move(timing_);
    return run;
  }

 private:
  struct Contestant {
    std::unique_ptr<SubmissionWorkers> workers;
    bool trusted = false;
    std::size_t shared = 0;  // sets that it knows
  };
  struct Measured {
    double seconds = 0, events = 0;  // of all calls: on the judge's clock, and by the slowest rank's own events
    Samples samples;
  };

  // --- requests -----------------------------------------------------------------------------------------------------

  void share(Contestant& who) {
    Lap lap(timing_.judge.start);
    for (; who.shared < sets_.size(); ++who.shared)
      for (int r = 0; r < who.workers->count(); ++r)
        require(who,
                sets_[who.shared][static_cast<std::size_t>(r)].share(who.workers->worker(r), options_.limit_seconds),
                r);
  }

  void require(const Contestant& who, const Reply& r, int rank) const {
    if (r.good()) return;
    std::string said = options_.explain(r);
    if (case_.ranks > 0) said = fmt::format("rank {} of {}: {}", rank, case_.ranks, said);
    throw Failed{"run", who.trusted ? "the course's own solution failed: " + said : said};
  }

  // A timed request; one for an estimate; one without its calls, but with all else.
  enum class Kind { timed, rough, empty };

  // One request to all ranks on the sets `order`.
  Measured measure(Contestant& who, const Order& order, std::uint64_t seed, Kind kind = Kind::timed) {
    Lap lap(timing_.judge.run);
    const bool empty = kind == Kind::empty;
    const std::size_t ranks = devices_.size();
    Measured m;
    sets_.prepare(order, seed, m.samples);
    std::vector<std::vector<protocol::Call>> calls(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t s : order)
        if (!empty) calls[r].push_back(sets_[s][r].call());
    const bool late = on(Defence::late_writes);
    const double warm = kind == Kind::timed || now() > busy_until_ + kWarmSeconds ? kWarmSeconds : kShortWarmSeconds;
    std::vector<Reply> replies(ranks), first(ranks);
    std::vector<double> ends(ranks);
    std::vector<std::exception_ptr> errors(ranks);
    std::atomic<std::size_t> ready{0};
    std::atomic<double> start{0};
    auto one = [&](std::size_t r) {
      WorkerProcess& worker = who.workers->worker(static_cast<int>(r));
      try {
        devices_[r]->warm_up(warm);
        // An empty request first: the GPU changes over from the judge's process to this one outside the measurement.
        first[r] = worker.run({}, {}, options_.limit_seconds);
      } catch (...) {
        errors[r] = std::current_exception();
      }
      if (++ready == ranks) start = now();
      while (start == 0) std::this_thread::yield();
      if (errors[r] || !first[r].good()) return;
      try {
        replies[r] = worker.run(calls[r], {}, options_.limit_seconds);
        if (late) m.samples[r].bytes = devices_[r]->take_sample();
      } catch (...) {
        errors[r] = std::current_exception();
      }
      ends[r] = now();
    };
    std::vector<std::thread> threads;
    for (std::size_t r = 1; r < ranks; ++r) threads.emplace_back(one, r);
    one(0);
    for (auto& t : threads) t.join();
    busy_until_ = now();
    for (const auto& e : errors)
      if (e) std::rethrow_exception(e);
    for (std::size_t r = 0; r < ranks; ++r) require(who, first[r], static_cast<int>(r));
    // The first that failed: what the others say follows from it.
    std::size_t worst = ranks;
    for (std::size_t r = 0; r < ranks; ++r)
      if (!replies[r].good() && (worst == ranks || before(replies[r], replies[worst]))) worst = r;
    if (worst < ranks) require(who, replies[worst], static_cast<int>(worst));
    m.seconds = *std::max_element(ends.begin(), ends.end()) - start;
    for (const Reply& r : replies) m.events = std::max(m.events, r.done.device_seconds);
    if (!on(Defence::judge_clock)) m.seconds = m.events;
    return m;
  }

  static bool before(const Reply& a, const Reply& b) {
    return a.follows() != b.follows() ? b.follows() : a.seconds < b.seconds;
  }

  double a_call(const Measured& m, std::size_t calls) const {
    const double own = on(Defence::judge_clock) ? timing_.round_trip_s : 0;
    return std::max(m.seconds - own, 1e-9) / static_cast<double>(calls);
  }

  // --- the session --------------------------------------------------------------------------------------------------

  Contestant start(const StartWorkers& start_workers, bool trusted) {
    Lap lap(timing_.judge.start);
    Contestant who{start_workers(), trusted, 0};
    if (real_files_) who.workers->set_files(real_files_.get());
    return who;
  }

  bool on_real_files() const {
    const auto* with_files = dynamic_cast<const lab::UsesFiles*>(&check_);
    return with_files != nullptr && with_files->on_real_files();
  }

  // The machine's own files of these sets, for inputs that are new.
  void make_files(const Order& order) {
    if (!real_files_) return;
    Lap lap(timing_.judge.fill);
    for (const std::size_t s : order)
      real_files_->replace(s, sets_[s].real_files(dynamic_cast<const lab::UsesFiles&>(check_)));
  }

  // New sets have the first one's inputs, and its files.
  void grow(std::size_t count) {
    const std::size_t before = sets_.size();
    sets_.grow(count);
    Order added;
    for (std::size_t s = before; s < sets_.size(); ++s) added.push_back(s);
    make_files(added);
  }

  // Seconds of one call, roughly: what more of them add. The first request loads code and connects ranks.
  double estimate(Contestant& who) {
    share(who);
    measure(who, {0}, options_.seed, Kind::rough);
    std::vector<double> one, all;
    for (int i = 0; i < 3; ++i) {
      one.push_back(measure(who, {0}, options_.seed, Kind::rough).seconds);
      all.push_back(measure(who, first_sets(sets_.size()), options_.seed, Kind::rough).seconds);
    }
    if (sets_.size() == 1) return median(one);
    return std::max((median(all) - median(one)) / static_cast<double>(sets_.size() - 1), 1e-7);
  }

  // Sets for the largest turn, and their buffers at the contestant.
  void plan(Contestant& who) {
    TurnPlan wanted =
        plan_turns(estimate(who), set_bytes(check_, case_), static_cast<double>(info_.l2_bytes), room(), options_);
    if (case_.ranks > 0) wanted.most = std::clamp(wanted.most, 2, kMostSetsOfRanks);
    wanted.least = (wanted.most + 1) / 2;
    if (wanted.most > plan_.most) plan_ = wanted;
    grow(static_cast<std::size_t>(plan_.most));
    share(who);
  }

  // Bytes for all sets of one rank. Inputs are kept on the host too.
  double room() const {
    return std::min(static_cast<double>(info_.memory), free_host_bytes() / static_cast<double>(devices_.size())) / 2;
  }

  // The baseline alone, then with the submission's processes there.
  void prepare() {
    options_.progress("the baseline alone");
    grow(4 * set_bytes(check_, case_) <= room() ? 4 : 1);
    baseline_ = start(who_.baseline, true);
    plan(baseline_);
    // Measured on the course's own processes: a submission could make empty requests slow, to have more subtracted.
    std::vector<double> empty;
    for (int i = 0; i < kEmptyRequests; ++i)
      empty.push_back(measure(baseline_, first_sets(sets_.size()), options_.seed, Kind::empty).seconds);
    timing_.round_trip_s = median(empty);
    alone(alone_);
    timing_.alone_s = median(alone_);
    enter();
    timing_.target = options_.stop.relative_width;
  }

  void alone(std::vector<double>& seconds) {
    if (real_files_) {  // as in the turns: each call reads a file that nobody has read
      sets_.refill(first_sets(sets_.size()), derived_seed(options_.seed, "alone", ++alone_taken_));
      make_files(first_sets(sets_.size()));
    }
    for (int i = 0; i < kAloneTurns; ++i)
      seconds.push_back(a_call(measure(baseline_, first_sets(sets_.size()), options_.seed), sets_.size()));
  }

  // The processes of the submission and of the reference solution.
  void enter() {
    submission_ = start(who_.submission, false);
    plan(submission_);
    if (who_.reference) {
      reference_ = start(who_.reference, true);
      estimate(reference_);
    }
    share(baseline_);
    timing_.calls = plan_.most;
  }

  void leave() {
    submission_ = {};
    reference_ = {};
  }

  void turns() {
    const double begun = now();
    std::vector<double> ratios;
    for (int turn = 0; !options_.stop.done(ratios, now() - begun); ++turn) {
      options_.progress(fmt::format("turn {}", ratios.size() + 1));
      const std::uint64_t seed = derived_seed(options_.seed, "turn", static_cast<std::uint64_t>(turn));
      const int span = on(Defence::unknown_count) ? plan_.most - plan_.least + 1 : 1;
      const int calls = plan_.most - static_cast<int>(derived_seed(seed, "calls") % static_cast<unsigned>(span));
      const Order order = drawn_sets(sets_.size(), static_cast<std::size_t>(calls), seed);
      sets_.refill(order, seed);
      make_files(order);

      const std::vector<GpuState> before = states();
      const Measured b = measure(baseline_, order, derived_seed(seed, "baseline"));
      std::optional<Measured> r;
      if (reference_.workers) r = measure(reference_, order, derived_seed(seed, "reference"));
      const Measured a = measure(submission_, order, derived_seed(seed, "submission"));
      const std::vector<GpuState> after = states();
      if (on(Defence::every_output) || turn == 0) sets_.verify(order, a.samples, turn + 1);
      if (real_files_)
        if (const lab::Verdict v = real_files_->verify(dynamic_cast<const lab::UsesFiles&>(check_), order); !v.ok)
          throw Failed{v.check, fmt::format("{}, in timed turn {}: {}", case_.name, turn + 1, v.message), v.secret};

      const std::string disturbed = disturbance_of(before, after);
      if (!disturbed.empty() && timing_.repeated < kMostRepeated) {
        ++timing_.repeated;
        continue;
      }
      if (!disturbed.empty()) timing_.disturbed = disturbed;
      note(after);
      timing_.turn_calls.push_back(calls);
      timing_.submission_s.push_back(a_call(a, order.size()));
      timing_.baseline_s.push_back(a_call(b, order.size()));
      if (r) timing_.reference_s.push_back(a_call(*r, order.size()));
      timing_.worker_s.push_back(a.events / static_cast<double>(order.size()));
      ratios.push_back(timing_.baseline_s.back() / timing_.submission_s.back());
    }
    summarise(timing_);
    timing_.precise = options_.stop.precise(median_interval(ratios));
  }

  // --- the GPUs beside it -------------------------------------------------------------------------------------------

  std::vector<GpuState> states() {
    std::vector<GpuState> all;
    for (const auto& monitor : monitors_) all.push_back(monitor->read());
    return all;
  }

  // Describes the first GPU that something disturbed. The clocks that were noted are those of rank 0's GPU.
  std::string disturbance_of(const std::vector<GpuState>& before, const std::vector<GpuState>& after) const {
    for (std::size_t r = 0; r < before.size(); ++r)
      if (std::string why = disturbance(before[r], after[r], r == 0 ? median(timing_.conditions.sm_mhz) : 0);
          !why.empty())
        return r == 0 ? why : fmt::format("GPU {}: {}", r, why);
    return {};
  }

  void note(const std::vector<GpuState>& states) {
    Conditions& c = timing_.conditions;
    const GpuState& own = states[0];
    if (own.known) {
      c.sm_mhz.push_back(own.sm_mhz);
      c.temperature_c.push_back(own.temperature_c);
      c.power_w.push_back(own.power_w);
    }
    for (const GpuState& s : states) {
      if (!s.known) continue;
      for (const auto& name : throttle_names(s.throttle))
        if (std::find(c.throttle.begin(), c.throttle.end(), name) == c.throttle.end()) c.throttle.push_back(name);
      c.other_processes = std::max(c.other_processes, static_cast<int>(s.busy_strangers.size()));
    }
  }

  // Refuses implausible values. The floor is one GPU's: it does not know the transfers between several ranks.
  void judge() {
    if (case_.ranks > 0) return;
    const double seconds = median(timing_.submission_s);
    const Floor floor = floor_of(check_.work(case_), options_.machine, plan_.most);
    timing_.floor_s = floor.seconds;
    if (!on(Defence::roofline_floor) || floor.seconds <= 0 || seconds >= floor.seconds) return;
    const std::string why = fmt::format(
        "{:.3g} ms a call, where {} of this machine takes {:.3g} ms at the least for this work: not "
        "all of it was done inside the measurement",
        seconds * 1e3, floor.bound, floor.seconds * 1e3);
    throw Failed{"implausible", why, why};
  }

  const std::vector<Device*>& devices_;
  const lab::TaskCheck& check_;
  const lab::Case& case_;
  const Contestants& who_;
  const TimedOptions& options_;
  DeviceInfo info_;
  std::vector<std::unique_ptr<GpuMonitor>> monitors_;  // of each device
  Timing timing_;
  Sets sets_;
  Contestant baseline_, submission_, reference_;
  TurnPlan plan_;
  std::vector<double> alone_;
  std::unique_ptr<RealFiles> real_files_;  // of a task on the machine's own files
  std::uint64_t alone_taken_ = 0;
  double busy_until_ = 0;  // now() at the end of the last request
};

}  // namespace

TimedRun time_case(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c,
                   const Contestants& who, const TimedOptions& options) {
  return Session(devices, check, c, who, options).run();
}

}  // namespace ridge
