#include "grader/measure/timed_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <random>
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

// Nothing is compared before refill(), so that all sets can have the first one's inputs till then.
void Sets::grow(std::size_t count) {
  sets_.reserve(count);
  while (sets_.size() < count) {
    const std::uint32_t first = sets_.empty() ? 1 : sets_.back().next_id();
    const RankBuffers* like = sets_.empty() || !on(Defence::fresh_inputs) ? nullptr : &sets_.front();
    sets_.emplace_back(devices_, check_, case_, InputSeed{seed_, "set", sets_.size()}, first, time_, like);
  }
}

// An upload goes on while the next set is filled.
void Sets::refill(const Order& order, std::uint64_t turn_seed) {
  if (!on(Defence::fresh_inputs)) return;
  for (std::size_t s : order) sets_[s].refill({turn_seed, "input", s});
  Lap lap(time_.copy);
  for (Device* device : devices_) device->settle();
}

void Sets::prepare(const Order& order, std::uint64_t seed, Samples& samples) {
  samples.assign(devices_.size(), {});
  for (std::size_t s : order) sets_[s].poison(derived_seed(seed, "poison", s));
  if (!on(Defence::late_writes)) return;
  const std::vector<std::size_t> calls = sampled_calls(order.size(), derived_seed(seed, "sampled"));
  for (std::size_t r = 0; r < devices_.size(); ++r) {
    for (std::size_t i : calls)
      sets_[order[i]][r].add_samples(lab::random_bits(seed, order[i] * devices_.size() + r), samples[r].samples);
    devices_[r]->aim_sample(samples[r].samples);
  }
}

// Several ranks: some sets at a time, one thread each, for the reference in double precision takes longest of all. One
// rank: its reference uses all cores, and the next set is downloaded meanwhile.
void Sets::verify(const Order& order, const Samples& samples, int turn) {
  const bool staged = devices_.size() == 1;
  const std::size_t most = staged ? 1 : std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 16);
  auto collected = [&](std::size_t from) {
    std::vector<HostCopy> copies;
    for (std::size_t i = from; i < std::min(from + most, order.size()); ++i)
      copies.push_back(sets_[order[i]].collect(staged ? static_cast<int>(i % 2) : -1));
    return copies;
  };
  const std::size_t drawn = std::random_device{}() % order.size();
  std::future<std::vector<HostCopy>> next;
  for (std::size_t from = 0; from < order.size(); from += most) {
    std::vector<HostCopy> copies;
    {
      Lap lap(time_.copy);
      copies = next.valid() ? next.get() : collected(from);
    }
    if (staged && from + most < order.size())
      next = std::async(std::launch::async, [&collected, first = from + most] { return collected(first); });
    verify_some(std::span(order).subspan(from, copies.size()), copies, samples, turn,
                turn == 1 && drawn >= from && drawn < from + copies.size());
  }
}

void Sets::verify_some(std::span<const std::size_t> order, const std::vector<HostCopy>& copies, const Samples& samples,
                       int turn, bool whole) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (const int late = sets_[order[i]].late_rank(copies[i], samples); late >= 0)
      throw Failed{"correct",
                   fmt::format("{}, in timed turn {}{}: {}", case_.name, turn,
                               case_.ranks == 0 ? "" : fmt::format(", rank {}", late), RankBuffers::kLate),
                   RankBuffers::kLate};
  Lap lap(time_.verify);
  std::optional<lab::ComparedShare> share;
  if (!whole) share.emplace(kComparedShare, std::random_device{}());
  const auto where = devices_.size() == 1 ? std::launch::deferred : std::launch::async;
  std::vector<std::future<lab::Verdict>> verdicts;
  for (const HostCopy& copy : copies)
    verdicts.push_back(std::async(where, [&] { return check_.verify(case_, copy.in, copy.out); }));
  for (auto& verdict : verdicts) verdict.wait();
  for (auto& verdict : verdicts)
    if (lab::Verdict v = verdict.get(); !v.ok)
      throw Failed{
          v.check,
          fmt::format("{}, in timed turn {}{}: {}", case_.name, turn,
                      share ? fmt::format(", of which 1 block in {} is compared", kComparedShare) : "", v.message),
          v.secret, v.cause};
}

}  // namespace ridge::timed
