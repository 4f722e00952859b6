#include "grader/measure/timed_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "checks/compare.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"

namespace ridge::timed {

double set_bytes(const lab::TaskCheck& check, const lab::Case& c) {
  const lab::Shape shape = check.shape(c);
  double bytes = static_cast<double>(shape.workspace);
  for (std::size_t b : shape.in) bytes += static_cast<double>(b);
  for (std::size_t b : shape.out) bytes += static_cast<double>(b);
  return bytes;
}

void Sets::grow(std::size_t count) {
  while (sets_.size() < count) {
    const std::uint32_t first = sets_.empty() ? 1 : sets_.back().next_id();
    sets_.emplace_back(devices_, check_, case_, InputSeed{seed_, "set", sets_.size()}, first, time_);
  }
}

void Sets::refill(const Order& order, std::uint64_t turn_seed) {
  if (!on(Defence::fresh_inputs)) return;
  for (std::size_t s : order) sets_[s].refill({turn_seed, "input", s});
}

void Sets::prepare(const Order& order, std::uint64_t seed, Samples& samples) {
  samples.assign(devices_.size(), {});
  for (std::size_t s : order) sets_[s].poison(derived_seed(seed, "poison", s));
  if (!on(Defence::late_writes)) return;
  for (std::size_t r = 0; r < devices_.size(); ++r) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (sampled(i, order.size()))
        sets_[order[i]][r].add_samples(lab::random_bits(seed, order[i] * devices_.size() + r), samples[r].samples);
    devices_[r]->aim_sample(samples[r].samples);
  }
}

// Verifies some sets of several ranks at a time, one thread each: the reference in double precision takes longest of
// all.
void Sets::verify(const Order& order, const Samples& samples, int turn) {
  const bool staged = devices_.size() == 1;
  const std::size_t most = staged ? 1 : std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 16);
  for (std::size_t from = 0; from < order.size(); from += most) {
    std::vector<HostCopy> copies;
    for (std::size_t i = from; i < std::min(from + most, order.size()); ++i) {
      const RankBuffers& set = sets_[order[i]];
      copies.push_back(set.collect(staged));
      if (const int late = set.late_rank(copies.back(), samples); late >= 0)
        throw Failed{"correct",
                     fmt::format("{}, in timed turn {}{}: {}", case_.name, turn,
                                 case_.ranks == 0 ? "" : fmt::format(", rank {}", late), RankBuffers::kLate),
                     RankBuffers::kLate};
    }
    Lap lap(time_.verify);
    std::vector<std::future<lab::Verdict>> verdicts;
    for (const HostCopy& copy : copies)
      verdicts.push_back(std::async(staged ? std::launch::deferred : std::launch::async,
                                    [&] { return check_.verify(case_, copy.in, copy.out); }));
    for (auto& verdict : verdicts) verdict.wait();
    for (auto& verdict : verdicts)
      if (lab::Verdict v = verdict.get(); !v.ok)
        throw Failed{v.check, fmt::format("{}, in timed turn {}: {}", case_.name, turn, v.message), v.secret, v.cause};
  }
}

}  // namespace ridge::timed
