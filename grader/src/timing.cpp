#include "timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "buffers.hpp"
#include "lab/compare.hpp"

namespace ridge {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  std::size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

void summarise(Timing& t) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < t.submission_s.size() && i < t.baseline_s.size(); ++i)
    ratios.push_back(t.baseline_s[i] / t.submission_s[i]);
  t.median = median(ratios);
  constexpr std::size_t kResamples = 2000;
  std::vector<double> medians;
  for (std::size_t r = 0; r < kResamples && !ratios.empty(); ++r) {
    std::vector<double> sample;
    for (std::size_t i = 0; i < ratios.size(); ++i) sample.push_back(ratios[lab::random_bits(r, i) % ratios.size()]);
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  t.low = medians.empty() ? 0 : medians[kResamples * 25 / 1000];
  t.high = medians.empty() ? 0 : medians[kResamples * 975 / 1000];
}

namespace {

constexpr std::size_t kSets = 4;  // distinct inputs and outputs, so that no turn finds its data in the L2

bool good(const Reply& r) { return r.fate == Fate::ok && r.done.status == protocol::Status::ok; }

// Seconds of an empty request: what the process round trip adds to every measurement.
double round_trip(WorkerProcess& worker, double limit) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    Reply r = worker.run({}, {}, limit);
    if (!good(r)) break;
    times.push_back(r.seconds);
  }
  return median(times);
}

}  // namespace

TimedRun time_against_baseline(Device& device, const lab::TaskCheck& check, const lab::Case& c,
                               WorkerProcess& submission, WorkerProcess& baseline, std::uint32_t first_id,
                               const TimedOptions& options, const std::function<std::string(const Reply&)>& explain) {
  TimedRun run;
  auto fail = [&](const std::string& gate, const std::string& message) {
    run.ok = false;
    run.check = gate;
    run.message = message;
    return run;
  };

  std::vector<CaseBuffers> sets;
  sets.reserve(kSets);
  for (std::size_t s = 0; s < kSets; ++s) {
    sets.emplace_back(device, check, c, lab::random_bits(options.seed, s), first_id);
    first_id = sets.back().next_id();
    for (WorkerProcess* w : {&submission, &baseline}) {
      Reply r = sets.back().share(*w, options.limit_seconds);
      if (!good(r)) return fail("run", explain(r));
    }
  }

  // How many calls make a turn long enough for the clock; the submission can't know the number beforehand.
  std::vector<protocol::Call> calls;
  for (const auto& s : sets) calls.push_back(s.call());
  Reply warm = submission.run(calls, {}, options.limit_seconds);
  if (!good(warm)) return fail("run", explain(warm));
  double estimate = 0;
  double warmed = 0;
  for (int i = 0; i < 200 && warmed < 0.2; ++i) {  // both sides, at least 200 ms: clocks and caches settle
    Reply a = submission.run(calls, {}, options.limit_seconds);
    if (!good(a)) return fail("run", explain(a));
    Reply b = baseline.run(calls, {}, options.limit_seconds);
    if (!good(b)) return fail("run", "the baseline failed: " + explain(b));
    estimate = b.seconds;
    warmed += a.seconds + b.seconds;
  }
  std::size_t repeats = 1;
  while ((repeats + 1) * kSets <= protocol::kMaxCalls &&
         static_cast<double>(repeats) * estimate < options.min_seconds_per_turn)
    ++repeats;

  double empty_s = round_trip(submission, options.limit_seconds), empty_b = round_trip(baseline, options.limit_seconds);
  run.timing.round_trip_s = empty_s;
  run.timing.calls = static_cast<int>(repeats * kSets);
  for (int turn = 0; turn < options.turns; ++turn) {
    std::uint64_t seed = lab::random_bits(options.seed, 1000 + static_cast<std::uint64_t>(turn));
    std::vector<std::size_t> order(kSets);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = kSets - 1; i > 0; --i) std::swap(order[i], order[lab::random_bits(seed, i) % (i + 1)]);
    calls.clear();
    for (std::size_t r = 0; r < repeats; ++r)
      for (std::size_t s : order) calls.push_back(sets[s].call());

    Reply b = baseline.run(calls, {}, options.limit_seconds);
    if (!good(b)) return fail("run", "the baseline failed: " + explain(b));
    for (auto& s : sets) s.poison(seed);
    Reply a = submission.run(calls, {}, options.limit_seconds);
    if (!good(a)) return fail("run", explain(a));
    for (const auto& s : sets)
      if (lab::Verdict v = s.verify(); !v.ok)
        return fail("correct", fmt::format("{}, in timed turn {}: {}", c.name, turn + 1, v.message));
    auto n = static_cast<double>(run.timing.calls);
    run.timing.submission_s.push_back(std::max(a.seconds - empty_s, 1e-9) / n);
    run.timing.baseline_s.push_back(std::max(b.seconds - empty_b, 1e-9) / n);
  }
  summarise(run.timing);
  return run;
}

}  // namespace ridge
