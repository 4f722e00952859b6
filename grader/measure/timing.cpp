// The parts of timing that do not depend on processes: the length of rounds, and the treatment of slow ones.
#include "grader/measure/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/base/defence.hpp"
#include "grader/measure/timed_turns.hpp"

namespace ridge {

using namespace timed;

namespace {

// The baseline beside the submission over the slowest that it was alone.
double slowed(const Timing& timing, const std::vector<double>& alone) {
  return median_interval(timing.baseline_s).low / *std::max_element(alone.begin(), alone.end());
}

// Clears the results of the rounds, so that they can be taken again.
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

void timed::judge_baseline(Timing& timing, const std::vector<double>& alone, double slowed_baseline) {
  const double by = slowed(timing, alone);
  if (by <= slowed_baseline) return;
  const std::string slower = fmt::format("the baseline took {:.2f} times as long as alone", by);
  const bool excused = !timing.disturbed.empty() || timing.repeated > 0;
  if (on(Defence::own_baseline) && !excused) {
    const std::string why = slower + ": something of the submission uses the GPU outside its turns";
    throw Failed{"implausible", why, why};
  }
  if (timing.disturbed.empty()) timing.disturbed = slower;
}

void timed::turns_beside(Timing& timing, std::vector<double> alone, const Steps& steps, double slowed_baseline) {
  steps.turns();
  if (slowed(timing, alone) > slowed_baseline) {
    steps.stop();
    const double before = median(alone);
    std::vector<double> after;
    steps.alone(after);
    if (slowed(timing, after) <= slowed_baseline) {
      timing.disturbed = fmt::format("the machine became slower: the baseline alone took {:.3g} ms, later {:.3g} ms",
                                     before * 1e3, median(after) * 1e3);
      return;
    }
    forget_turns(timing);
    steps.start();
    alone = std::move(after);
    steps.turns();
  }
  judge_baseline(timing, alone, slowed_baseline);
}

TurnPlan plan_turns(double seconds_a_call, double set_bytes, double l2_bytes, double memory_bytes,
                    const TimedOptions& options) {
  auto calls = [&](double seconds) { return std::ceil(seconds / std::max(seconds_a_call, 1e-7)); };
  double most = std::max({calls(options.turn_seconds), 2 * calls(options.least_seconds), 4.0});
  // Six L2s of inputs, so that every call finds its own in memory: where that shows, even in slow memory.
  constexpr double slow_memory = 3e11;  // bytes/s
  if (set_bytes / slow_memory > 0.01 * seconds_a_call)
    most = std::max(most, std::ceil(6 * l2_bytes / std::max(set_bytes, 1.0)));
  double room = std::max(1.0, std::floor(memory_bytes / std::max(set_bytes, 1.0)));
  most = std::min({most, room, static_cast<double>(protocol::kMaxCalls)});
  TurnPlan plan;
  plan.most = static_cast<int>(most);
  plan.least = (plan.most + 1) / 2;
  return plan;
}

}  // namespace ridge
