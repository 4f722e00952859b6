#include "grader/measure/rank_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <thread>

#include "checks/compare.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"
#include "grader/machine/nvml.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/worker/buffers.hpp"

namespace ridge {

using namespace timed;

namespace {

constexpr int kMostSets = 32;  // inputs and answers of all ranks pass through the host

class RankSession {
 public:
  RankSession(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c,
              std::uint32_t first_id, const TimedOptions& options)
      : devices_(devices), check_(check), case_(c), options_(options), next_id_(first_id) {}

  TimedRun run(const StartRanks& submission, const StartRanks& baseline) {
    return timed::run(timing_, [&] {
      prepare(submission, baseline);
      turns_beside(timing_, alone_,
                   {[this] { turns(); }, [this] { submission_ = {}; }, [&] { enter(submission); },
                    [this](std::vector<double>& seconds) { alone(seconds); }});
    });
  }

 private:
  struct Contestant {
    std::unique_ptr<RankWorkers> ranks;
    bool trusted = false;
    std::size_t shared = 0;  // sets that they know
  };
  struct Measured {
    double seconds = 0;
    std::vector<std::vector<Comb>> combs;  // by rank
    std::vector<std::vector<std::byte>> samples;
  };

  void require(const Contestant& who, const Reply& r, int rank) const {
    if (r.good()) return;
    const std::string said = fmt::format("rank {} of {}: {}", rank, case_.ranks, options_.explain(r));
    throw Failed{"run", who.trusted ? "the course's own solution failed: " + said : said};
  }

  void grow(std::size_t count) {
    while (sets_.size() < count) {
      RankWorkers::Buffers set;
      const std::uint32_t first = next_id_;
      lab::Case c = case_;
      c.shared_seed = derived_seed(options_.seed, "shared", sets_.size());
      for (c.rank = 0; c.rank < c.ranks; ++c.rank) {
        set.emplace_back(*devices_[static_cast<std::size_t>(c.rank)], check_, c,
                         derived_seed(options_.seed, "set", sets_.size() * 64 + static_cast<std::size_t>(c.rank)),
                         first, timing_.judge);
        next_id_ = std::max(next_id_, set.back().next_id());
      }
      sets_.push_back(std::move(set));
    }
  }

  void share(Contestant& who) {
    Lap lap(timing_.judge.start);
    for (; who.shared < sets_.size(); ++who.shared)
      for (int r = 0; r < case_.ranks; ++r)
        require(who, sets_[who.shared][static_cast<std::size_t>(r)].share(who.ranks->worker(r), options_.limit_seconds),
                r);
  }

  // One request to all ranks on the sets `order`. `empty`: without its calls, but with all else.
  Measured measure(Contestant& who, const Order& order, std::uint64_t seed, bool empty = false) {
    Lap lap(timing_.judge.run);
    const auto ranks = static_cast<std::size_t>(case_.ranks);
    Measured m;
    m.combs.resize(ranks);
    m.samples.resize(ranks);
    const bool late = on(Defence::late_writes);
    std::vector<std::vector<protocol::Call>> calls(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        CaseBuffers& b = sets_[order[i]][r];
        b.poison(derived_seed(seed, "poison", order[i] * 64 + r));
        if (!empty) calls[r].push_back(b.call());
        if (late && sampled(i, order.size())) b.combs(lab::random_bits(seed, order[i] * 64 + r), m.combs[r]);
      }
      if (late) devices_[r]->aim_sample(m.combs[r]);
    }
    std::vector<Reply> replies(ranks), first(ranks);
    std::vector<double> ends(ranks);
    std::vector<std::exception_ptr> errors(ranks);
    std::atomic<std::size_t> ready{0};
    std::atomic<double> start{0};
    auto one = [&](std::size_t r) {
      try {
        devices_[r]->warm_up(kWarmSeconds);
        // An empty request first: each GPU changes over from the judge's process outside the measurement.
        first[r] = who.ranks->worker(static_cast<int>(r)).run({}, {}, options_.limit_seconds);
      } catch (...) {
        errors[r] = std::current_exception();
      }
      if (++ready == ranks) start = now();
      while (start == 0) std::this_thread::yield();
      if (errors[r] || !first[r].good()) return;
      try {
        replies[r] = who.ranks->worker(static_cast<int>(r)).run(calls[r], {}, options_.limit_seconds);
        if (late) m.samples[r] = devices_[r]->take_sample();
      } catch (...) {
        errors[r] = std::current_exception();
      }
      ends[r] = now();
    };
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks; ++r) threads.emplace_back(one, r);
    for (auto& t : threads) t.join();
    for (const auto& e : errors)
      if (e) std::rethrow_exception(e);
    for (std::size_t r = 0; r < ranks; ++r) require(who, first[r], static_cast<int>(r));
    // The first that failed: what the others say follows from it.
    std::size_t worst = ranks;
    for (std::size_t r = 0; r < ranks; ++r)
      if (!replies[r].good() && (worst == ranks || before(replies[r], replies[worst]))) worst = r;
    if (worst < ranks) require(who, replies[worst], static_cast<int>(worst));
    m.seconds = *std::max_element(ends.begin(), ends.end()) - start;
    return m;
  }

  static bool before(const Reply& a, const Reply& b) {
    return a.with_others != b.with_others ? b.with_others : a.seconds < b.seconds;
  }

  double a_call(const Measured& m, std::size_t calls) const {
    return std::max(m.seconds - timing_.round_trip_s, 1e-9) / static_cast<double>(calls);
  }

  // Inputs and answers of a set on the host.
  struct Collected {
    std::vector<std::span<const std::byte>> in, out;
    std::vector<std::vector<std::byte>> storage;
  };

  Collected collect(std::size_t s, const Measured& m) {
    Collected all;
    all.storage.reserve(16 * sets_[s].size());
    Lap lap(timing_.judge.copy);
    for (std::size_t r = 0; r < sets_[s].size(); ++r) {
      const std::size_t first = all.out.size();
      sets_[s][r].collect(all.in, all.out, all.storage);
      if (!sets_[s][r].unchanged(std::span(all.out).subspan(first), m.combs[r], m.samples[r]))
        throw Failed{"correct", fmt::format("{}, rank {}: {}", case_.name, r, CaseBuffers::kLate), CaseBuffers::kLate};
    }
    return all;
  }

  // Some sets at a time, a thread each: an answer in double precision takes longer than all else.
  void verify(const Order& order, const Measured& m, int turn) {
    const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 16);
    for (std::size_t from = 0; from < order.size(); from += most) {
      std::vector<Collected> sets;
      for (std::size_t i = from; i < std::min(from + most, order.size()); ++i) sets.push_back(collect(order[i], m));
      Lap lap(timing_.judge.verify);
      std::vector<std::future<lab::Verdict>> verdicts;
      for (const Collected& set : sets)
        verdicts.push_back(std::async(std::launch::async, [&] { return check_.verify(case_, set.in, set.out); }));
      for (auto& verdict : verdicts) verdict.wait();
      for (auto& verdict : verdicts)
        if (lab::Verdict v = verdict.get(); !v.ok)
          throw Failed{v.check, fmt::format("{}, in timed turn {}: {}", case_.name, turn, v.message), v.secret};
    }
  }

  Contestant start(const StartRanks& start_ranks, bool trusted) {
    Lap lap(timing_.judge.start);
    Contestant c;
    c.ranks = start_ranks();
    c.trusted = trusted;
    return c;
  }

  // Seconds of one call, roughly; sets for the turns.
  void plan(Contestant& who) {
    share(who);
    measure(who, {0}, options_.seed);  // loads code, connects ranks
    std::vector<double> one, all;
    for (int i = 0; i < 3; ++i) {
      one.push_back(measure(who, {0}, options_.seed).seconds);
      all.push_back(measure(who, first_sets(sets_.size()), options_.seed).seconds);
    }
    const double added = (median(all) - median(one)) / static_cast<double>(std::max<std::size_t>(sets_.size() - 1, 1));
    const DeviceInfo info = devices_[0]->info();
    const TurnPlan wanted =
        plan_turns(std::max(added, 1e-6), set_bytes(check_, case_), static_cast<double>(info.l2_bytes),
                   static_cast<double>(info.memory) / 2, options_);
    plan_.most = std::clamp(std::max(plan_.most, wanted.most), 2, kMostSets);
    plan_.least = (plan_.most + 1) / 2;
    grow(static_cast<std::size_t>(plan_.most));
    share(who);
  }

  void prepare(const StartRanks& submission, const StartRanks& baseline) {
    options_.progress("the vendor's way alone");
    grow(2);
    baseline_ = start(baseline, true);
    plan(baseline_);
    std::vector<double> empty;
    for (int i = 0; i < 21; ++i)
      empty.push_back(measure(baseline_, first_sets(sets_.size()), options_.seed, true).seconds);
    timing_.round_trip_s = median(empty);
    alone(alone_);
    timing_.alone_s = median(alone_);
    enter(submission);
    timing_.target = options_.stop.relative_width;
  }

  void alone(std::vector<double>& seconds) {
    for (int i = 0; i < kAloneTurns; ++i)
      seconds.push_back(a_call(measure(baseline_, first_sets(sets_.size()), options_.seed), sets_.size()));
  }

  void enter(const StartRanks& submission) {
    submission_ = start(submission, false);
    plan(submission_);
    share(baseline_);
    timing_.calls = plan_.most;
  }

  void turns() {
    GpuMonitor monitor(devices_[0]->info().uuid);
    const double begun = now();
    std::vector<double> ratios;
    for (int turn = 0; !options_.stop.done(ratios, now() - begun); ++turn) {
      options_.progress(fmt::format("turn {}", turn + 1));
      const std::uint64_t seed = derived_seed(options_.seed, "turn", static_cast<std::uint64_t>(turn));
      const int calls = plan_.most - static_cast<int>(derived_seed(seed, "calls") %
                                                      static_cast<unsigned>(plan_.most - plan_.least + 1));
      const Order order = drawn_sets(sets_.size(), static_cast<std::size_t>(calls), seed);
      if (on(Defence::fresh_inputs))
        for (std::size_t s : order)
          for (std::size_t r = 0; r < sets_[s].size(); ++r)
            sets_[s][r].refill(derived_seed(seed, "input", s * 64 + r), derived_seed(seed, "shared", s));
      const Measured b = measure(baseline_, order, derived_seed(seed, "baseline"));
      const Measured a = measure(submission_, order, derived_seed(seed, "submission"));
      const GpuState after = monitor.read();
      if (on(Defence::every_output) || turn == 0) verify(order, a, turn + 1);
      if (after.known) {
        timing_.conditions.sm_mhz.push_back(after.sm_mhz);
        timing_.conditions.temperature_c.push_back(after.temperature_c);
        timing_.conditions.power_w.push_back(after.power_w);
      }
      timing_.turn_calls.push_back(calls);
      timing_.submission_s.push_back(a_call(a, order.size()));
      timing_.baseline_s.push_back(a_call(b, order.size()));
      ratios.push_back(timing_.baseline_s.back() / timing_.submission_s.back());
    }
    summarise(timing_);
    timing_.precise = median_interval(ratios).relative_width() <= timing_.target;
  }

  const std::vector<Device*>& devices_;
  const lab::TaskCheck& check_;
  const lab::Case& case_;
  const TimedOptions& options_;
  std::uint32_t next_id_;
  std::vector<RankWorkers::Buffers> sets_;
  Contestant baseline_, submission_;
  TurnPlan plan_;
  std::vector<double> alone_;
  Timing timing_;
};

}  // namespace

TimedRun time_ranks(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c,
                    const StartRanks& submission, const StartRanks& baseline, std::uint32_t first_id,
                    const TimedOptions& options) {
  return RankSession(devices, check, c, first_id, options).run(submission, baseline);
}

}  // namespace ridge
