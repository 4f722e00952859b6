#include "grader/measure/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>

#include "checks/compare.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"
#include "grader/machine/nvml.hpp"
#include "grader/measure/floor.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/worker/buffers.hpp"

namespace ridge {

using namespace timed;

namespace {

constexpr int kMostRepeated = 10;

bool good(const Reply& r) { return r.fate == Fate::ok && r.done.status == protocol::Status::ok; }

// Of /proc/meminfo: what can be had without swapping.
double free_host_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (double kib = 0; std::sscanf(line.c_str(), "MemAvailable: %lf kB", &kib) == 1) return kib * 1024;
  return 1e9;
}

class Session {
 public:
  Session(Device& device, const lab::TaskCheck& check, const lab::Case& c, const Contestants& who,
          std::uint32_t first_id, const TimedOptions& options)
      : device_(device),
        check_(check),
        case_(c),
        who_(who),
        options_(options),
        next_id_(first_id),
        info_(device.info()),
        monitor_(info_.uuid) {}

  TimedRun run() {
    return timed::run(timing_, [this] {
      prepare();
      turns_beside(timing_, alone_,
                   {[this] { turns(); }, [this] { leave(); }, [this] { enter(); },
                    [this](std::vector<double>& seconds) { alone(seconds); }});
      judge();
    });
  }

 private:
  struct Contestant {
    std::unique_ptr<WorkerProcess> worker;
    bool trusted = false;
    std::size_t shared = 0;  // sets that it knows
  };

  // --- requests -----------------------------------------------------------------------------------------------------

  void share(Contestant& who) {
    for (; who.shared < sets_.size(); ++who.shared) require(who, sets_[who.shared].share(*who.worker, limit()));
  }

  void require(const Contestant& who, const Reply& r) const {
    if (good(r)) return;
    throw Failed{"run", who.trusted ? "the course's own solution failed: " + options_.explain(r) : options_.explain(r)};
  }

  double limit() const { return options_.limit_seconds; }

  void grow(std::size_t count) {
    while (sets_.size() < count) {
      sets_.emplace_back(device_, check_, case_, derived_seed(options_.seed, "set", sets_.size()), next_id_,
                         timing_.judge);
      next_id_ = sets_.back().next_id();
    }
  }

  struct Measured {
    double seconds = 0, events = 0;
    std::vector<Comb> combs;
    std::vector<std::byte> sample;
  };

  // One request on the sets `order`, timed by the judge. `empty`: without its calls, but with all else.
  Measured measure(Contestant& who, const std::vector<std::size_t>& order, std::uint64_t seed, bool empty = false) {
    Lap lap(timing_.judge.run);
    Measured m;
    std::vector<protocol::Call> calls;
    for (std::size_t s : order) {
      sets_[s].poison(derived_seed(seed, "poison", s));
      if (!empty) calls.push_back(sets_[s].call());
    }
    const bool late = on(Defence::late_writes);
    for (std::size_t i = 0; late && i < order.size(); ++i)
      if (sampled(i, order.size())) sets_[order[i]].combs(lab::random_bits(seed, order[i]), m.combs);
    if (late) device_.aim_sample(m.combs);
    device_.warm_up(kWarmSeconds);
    // An empty request first: the GPU changes over from the judge's process to this one outside the measurement.
    require(who, who.worker->run({}, {}, limit()));
    double start = now();
    Reply r = who.worker->run(calls, {}, limit());
    m.seconds = r.seconds;
    if (late) {
      m.sample = device_.take_sample();
      m.seconds = now() - start;
    }
    require(who, r);
    m.events = r.done.device_seconds;
    if (!on(Defence::judge_clock)) m.seconds = m.events;
    return m;
  }

  double a_call(const Measured& m, std::size_t calls) const {
    double own = on(Defence::judge_clock) ? timing_.round_trip_s : 0;
    return std::max(m.seconds - own, 1e-9) / static_cast<double>(calls);
  }

  void verify(const std::vector<std::size_t>& order, const Measured& m, int turn) const {
    for (std::size_t s : order)
      if (lab::Verdict v = sets_[s].verify(m.combs, m.sample); !v.ok)
        throw Failed{"correct", fmt::format("{}, in timed turn {}: {}", case_.name, turn, v.message), v.secret};
  }

  // --- the session --------------------------------------------------------------------------------------------------

  Contestant start(const StartWorker& start_worker, bool trusted) {
    Lap lap(timing_.judge.start);
    Contestant c;
    c.worker = start_worker();
    c.trusted = trusted;
    return c;
  }

  // Seconds of one call, roughly: what three more of them add.
  double estimate(Contestant& who) {
    share(who);
    measure(who, {0}, options_.seed);  // loads code
    std::vector<double> one, all;
    for (int i = 0; i < 3; ++i) {
      one.push_back(measure(who, {0}, options_.seed).seconds);
      all.push_back(measure(who, first_sets(sets_.size()), options_.seed).seconds);
    }
    if (sets_.size() == 1) return median(one);
    return std::max((median(all) - median(one)) / static_cast<double>(sets_.size() - 1), 1e-7);
  }

  void plan(double seconds_a_call) {
    TurnPlan wanted = plan_turns(seconds_a_call, set_bytes(), static_cast<double>(info_.l2_bytes), room(), options_);
    if (wanted.most > plan_.most) plan_ = wanted;
    grow(static_cast<std::size_t>(plan_.most));
  }

  double set_bytes() const { return timed::set_bytes(check_, case_); }

  // Bytes for all sets. Inputs are kept on the host too.
  double room() const { return std::min(static_cast<double>(info_.memory), free_host_bytes()) / 2; }

  // The vendor's way alone, then with the submission's process there.
  void prepare() {
    options_.progress("the vendor's way alone");
    grow(4 * set_bytes() <= room() ? 4 : 1);
    baseline_ = start(who_.baseline, true);
    plan(estimate(baseline_));
    share(baseline_);
    // Measured on the course's own process: a submission could make empty requests slow, to have more subtracted.
    std::vector<double> empty;
    for (int i = 0; i < 21; ++i)
      empty.push_back(measure(baseline_, first_sets(sets_.size()), options_.seed, true).seconds);
    timing_.round_trip_s = median(empty);
    alone(alone_);
    timing_.alone_s = median(alone_);
    enter();
    timing_.target = options_.stop.relative_width;
  }

  void alone(std::vector<double>& seconds) {
    for (int i = 0; i < kAloneTurns; ++i)
      seconds.push_back(a_call(measure(baseline_, first_sets(sets_.size()), options_.seed), sets_.size()));
  }

  // The processes of the submission and of the reference solution.
  void enter() {
    submission_ = start(who_.submission, false);
    plan(estimate(submission_));
    share(submission_);
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
    const double start = now();
    std::vector<double> ratios;
    for (int turn = 0; !options_.stop.done(ratios, now() - start); ++turn) {
      options_.progress(fmt::format("turn {}", ratios.size() + 1));
      const std::uint64_t seed = derived_seed(options_.seed, "turn", static_cast<std::uint64_t>(turn));
      const int span = on(Defence::unknown_count) ? plan_.most - plan_.least + 1 : 1;
      const int calls = plan_.most - static_cast<int>(derived_seed(seed, "calls") % static_cast<unsigned>(span));
      std::vector<std::size_t> order = drawn_sets(sets_.size(), static_cast<std::size_t>(calls), seed);
      if (on(Defence::fresh_inputs))
        for (std::size_t s : order) sets_[s].refill(derived_seed(seed, "input", s));

      GpuState before = monitor_.read();
      Measured b = measure(baseline_, order, derived_seed(seed, "baseline"));
      std::optional<Measured> r;
      if (reference_.worker) r = measure(reference_, order, derived_seed(seed, "reference"));
      Measured a = measure(submission_, order, derived_seed(seed, "submission"));
      GpuState after = monitor_.read();
      if (on(Defence::every_output) || turn == 0) verify(order, a, turn + 1);

      std::string disturbed = disturbance(before, after, median(timing_.conditions.sm_mhz));
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
    timing_.precise = median_interval(ratios).relative_width() <= timing_.target;
  }

  void note(const GpuState& s) {
    if (!s.known) return;
    Conditions& c = timing_.conditions;
    c.sm_mhz.push_back(s.sm_mhz);
    c.temperature_c.push_back(s.temperature_c);
    c.power_w.push_back(s.power_w);
    for (const auto& name : throttle_names(s.throttle))
      if (std::find(c.throttle.begin(), c.throttle.end(), name) == c.throttle.end()) c.throttle.push_back(name);
    c.other_processes = std::max(c.other_processes, static_cast<int>(s.busy_strangers.size()));
  }

  // What the numbers say that can't be.
  void judge() {
    const double seconds = median(timing_.submission_s);
    Floor floor = floor_of(check_.work(case_), options_.machine, plan_.most);
    timing_.floor_s = floor.seconds;
    if (on(Defence::roofline_floor) && floor.seconds > 0 && seconds < floor.seconds)
      implausible(
          fmt::format("{:.3g} ms a call, where {} of this machine takes {:.3g} ms at the least for this work: not "
                      "all of it was done inside the measurement",
                      seconds * 1e3, floor.bound, floor.seconds * 1e3));
  }

  [[noreturn]] static void implausible(const std::string& why) { throw Failed{"implausible", why, why}; }

  Device& device_;
  const lab::TaskCheck& check_;
  const lab::Case& case_;
  const Contestants& who_;
  const TimedOptions& options_;
  std::uint32_t next_id_;
  DeviceInfo info_;
  GpuMonitor monitor_;
  std::vector<CaseBuffers> sets_;
  Contestant baseline_, submission_, reference_;
  TurnPlan plan_;
  std::vector<double> alone_;
  Timing timing_;
};

}  // namespace

namespace {

// The vendor's way beside the submission over the slowest that it was alone.
double slowed(const Timing& timing, const std::vector<double>& alone) {
  return median_interval(timing.baseline_s).low / *std::max_element(alone.begin(), alone.end());
}

// What a turn leaves, so that turns can be taken again.
void forget_turns(Timing& t) {
  t.submission_s.clear();
  t.baseline_s.clear();
  t.reference_s.clear();
  t.turn_calls.clear();
  t.worker_s.clear();
  t.conditions = {};
  t.repeated = 0;
  t.disturbed.clear();
}

}  // namespace

void timed::judge_baseline(Timing& timing, const std::vector<double>& alone) {
  const double by = slowed(timing, alone);
  if (by <= kSlowedBaseline) return;
  const std::string slower = fmt::format("the vendor's way took {:.2f} times as long as alone", by);
  const bool excused = !timing.disturbed.empty() || timing.repeated > 0;
  if (on(Defence::own_baseline) && !excused) {
    const std::string why = slower + ": something of the submission uses the GPU outside its turns";
    throw Failed{"implausible", why, why};
  }
  if (timing.disturbed.empty()) timing.disturbed = slower;
}

void timed::turns_beside(Timing& timing, std::vector<double> alone, const Steps& steps) {
  steps.turns();
  if (slowed(timing, alone) > kSlowedBaseline) {
    steps.stop();
    const double before = median(alone);
    std::vector<double> after;
    steps.alone(after);
    if (slowed(timing, after) <= kSlowedBaseline) {
      timing.disturbed =
          fmt::format("the machine became slower: the vendor's way alone took {:.3g} ms, later {:.3g} ms", before * 1e3,
                      median(after) * 1e3);
      return;
    }
    forget_turns(timing);
    steps.start();
    alone = std::move(after);
    steps.turns();
  }
  judge_baseline(timing, alone);
}

TurnPlan plan_turns(double seconds_a_call, double set_bytes, double l2_bytes, double memory_bytes,
                    const TimedOptions& options) {
  auto calls = [&](double seconds) { return std::ceil(seconds / std::max(seconds_a_call, 1e-7)); };
  double most = std::max({calls(options.turn_seconds), 2 * calls(options.least_seconds),
                          std::ceil(6 * l2_bytes / std::max(set_bytes, 1.0)), 4.0});
  double room = std::max(1.0, std::floor(memory_bytes / std::max(set_bytes, 1.0)));
  most = std::min({most, room, static_cast<double>(protocol::kMaxCalls)});
  TurnPlan plan;
  plan.most = static_cast<int>(most);
  plan.least = (plan.most + 1) / 2;
  return plan;
}

TimedRun time_case(Device& device, const lab::TaskCheck& check, const lab::Case& c, const Contestants& who,
                   std::uint32_t first_id, const TimedOptions& options) {
  return Session(device, check, c, who, first_id, options).run();
}

}  // namespace ridge
