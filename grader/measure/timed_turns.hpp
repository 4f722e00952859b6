// The turns of a session (timed_session.cpp): their order, their samples, and what becomes of slow ones.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "grader/base/defence.hpp"
#include "grader/measure/timing.hpp"

namespace ridge::timed {

constexpr std::size_t kSampled = 4;          // sets of a turn whose outputs are sampled, at most
constexpr unsigned kComparedShare = 16;      // of this many blocks of an output, one is compared
constexpr double kWarmSeconds = 0.02;        // before each request: the clocks fall while the judge verifies
constexpr double kShortWarmSeconds = 0.002;  // before estimates and empty requests, which follow each other at once
constexpr int kAloneTurns = 5;

// A gate that failed.
struct Failed {
  std::string check, message, secret = {};
  Cause cause = Cause::none;
};

using Order = std::vector<std::size_t>;  // sets of buffers, in the order of the calls

inline Order first_sets(std::size_t n) {
  Order order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// n of `all` sets.
inline Order drawn_sets(std::size_t all, std::size_t n, std::uint64_t seed) {
  Order order = first_sets(all);
  for (std::size_t i = all; i-- > 1;) std::swap(order[i], order[lab::random_bits(seed, i) % (i + 1)]);
  order.resize(n);
  return order;
}

// Numbers of the calls of a turn, of n, whose outputs are sampled: the last, whose work is the one to put off, and
// others that the seed draws. A submission counts its calls, so it must not know which. A sample of all took up to
// 15 us a call within the measured time.
inline std::vector<std::size_t> sampled_calls(std::size_t n, std::uint64_t seed) {
  if (n == 0) return {};
  std::vector<std::size_t> calls = drawn_sets(n - 1, std::min(n, kSampled) - 1, seed);
  calls.push_back(n - 1);
  return calls;
}

// The steps of a timing session. `stop` ends the submission's processes, `start` starts them again, and `alone` times
// the baseline alone and appends its seconds per call to its argument.
struct Steps {
  std::function<void()> turns, stop, start;
  std::function<void(std::vector<double>&)> alone;
};

// The turns, and whether the baseline keeps its pace beside the submission. Where it does not, it is timed alone
// once more: a machine that became slower is slow then too. Otherwise all turns are taken again with a new process of
// the submission: the load of a neighbour passes, that of a submission does not. Throws Failed{"implausible"}.
void turns_beside(Timing& timing, std::vector<double> alone, const Steps& steps, double slowed_baseline);

// Throws Failed{"implausible"} where the baseline is slower beside the submission than alone, beyond what both vary
// by.
void judge_baseline(Timing& timing, const std::vector<double>& alone, double slowed_baseline);

}  // namespace ridge::timed
