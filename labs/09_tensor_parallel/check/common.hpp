// What the checks of lab 09 share: parts of answers by rank, samples of large ones, traffic, fills. Expected answers are those of
// the whole layer in double precision, with the errors that fp32 may have (propagation.hpp).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "ceilings/profile.hpp"
#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/propagation.hpp"
#include "traffic.hpp"

namespace ridge::lab::tensor_parallel {

using Size = std::size_t;

inline const double kUnit = kFp32.unit();
constexpr double square(double x) { return x * x; }

inline double gelu(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}
inline double gelu_slope(double x) {
  const double k = std::sqrt(2 / std::numbers::pi), t = std::tanh(k * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
}
inline Real gelu_of(const Real& x) {
  return {gelu(x.value), square(gelu_slope(x.value)) * x.variance + square(3 * kUnit * x.value), std::fabs(x.value)};
}
inline Real gelu_backward(const Real& x, const Real& d) {
  constexpr double h = 1e-4;
  const double slope = gelu_slope(x.value), bend = (gelu_slope(x.value + h) - gelu_slope(x.value - h)) / (2 * h);
  const double own = square(4 * kUnit * (1 + std::fabs(x.value)));
  return {d.value * slope, slope * slope * d.variance + square(d.value) * (bend * bend * x.variance + own), 0};
}

// An input of all ranks, concatenated. Buffers come rank by rank, `per_rank` of each.
inline std::span<const float> of_rank(ConstBuffers all, int ranks, int rank, Size which) {
  const Size per_rank = all.size() / static_cast<Size>(ranks);
  return floats(all[static_cast<Size>(rank) * per_rank + which]);
}
inline Reals exact(std::span<const float> x) {
  Reals r(x.size());
  for (Size i = 0; i < x.size(); ++i) r.value[i] = x[i];
  return r;
}
inline std::vector<double> doubles(std::span<const float> x) { return {x.begin(), x.end()}; }

struct Guess;

// Elements of an output that are compared: all, or a sample where they are many.
class Elements {
 public:
  explicit Elements(Size cols) : cols_(cols) {}
  void add(Size row, Size col, const Real& r) { at_.push_back(row * cols_ + col), expected_.push_back(expected(r)); }
  // The same elements with other values: value(index, expected). The errors may be larger than those of the answer.
  template <class Value>
  Elements changed(Value value) const {
    Elements other = *this;
    for (Size k = 0; k < at_.size(); ++k) {
      Expected& e = other.expected_[k];
      e.value = value(at_[k], e.value);
      e.deviation = 4 * (e.deviation + kUnit * (std::fabs(e.value) + e.magnitude));
      e.worst = INFINITY;
    }
    return other;
  }
  // The message of a wrong answer names the guess that the answer fits.
  Verdict compare(std::span<const float> got, int ranks, int rank, const std::string& name,
                  const std::function<std::vector<Guess>()>& guesses) const;
  Verdict compare(std::span<const float> got, int ranks, int rank, const std::string& name) const {
    CloseTally tally(at_.size());
    for (Size k = 0; k < at_.size(); ++k) tally.add(at_[k], static_cast<double>(got[at_[k]]), expected_[k]);
    return tally.verdict([&](Size i) {
      std::string text =
          cols_ == 1 ? fmt::format("{}[{}]", name, i) : fmt::format("{}[{}][{}]", name, i / cols_, i % cols_);
      return ranks == 1 ? text : fmt::format("rank {}, {}", rank, text);
    });
  }

 private:
  Size cols_;
  std::vector<Size> at_;
  std::vector<Expected> expected_;
};

// The answer of a known mistake, for messages.
struct Guess {
  std::string text;
  Elements answer;
};

inline Verdict Elements::compare(std::span<const float> got, int ranks, int rank, const std::string& name,
                                 const std::function<std::vector<Guess>()>& guesses) const {
  Verdict v = compare(got, ranks, rank, name);
  if (v.ok) return v;
  constexpr Size kMany = 16;  // numbers: so many do not end in 16 zeros by chance
  auto is_short = [](float x) { return (std::bit_cast<std::uint32_t>(x) & 0xFFFF) == 0; };
  if (got.size() >= kMany && v.message.find("; the error is ") != std::string::npos &&
      std::all_of(got.begin(), got.end(), is_short))
    v.message += fmt::format(
        "{}ll {} numbers of {} are bf16 numbers, whose lower 16 bits are 0. Were they rounded for a message?",
        v.message.back() == '?' ? " A" : "; a", got.size(), name);
  for (const Guess& g : guesses())
    if (g.answer.compare(got, ranks, rank, name).ok) {
      v.message += "; " + g.text;
      // The guess says more than the usual origin of such numbers.
      if (v.cause == Cause::one_factor || v.cause == Cause::imprecise) v.cause = Cause::none;
      break;
    }
  return v;
}

inline Verdict same_bits(ConstBuffers out, int ranks, Size which, Size first, Size count, const std::string& name) {
  const auto a = of_rank(out, ranks, 0, which).subspan(first, count);
  for (int r = 1; r < ranks; ++r) {
    const auto b = of_rank(out, ranks, r, which).subspan(first, count);
    for (Size i = 0; i < count; ++i)
      if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0)
        return {
            false,
            fmt::format("{}, element {}: {:.9g} on rank 0 and {:.9g} on rank {}. What ranks hold alike must have the "
                        "same bits, or they drift apart",
                        name, i, a[i], b[i], r),
            "ranks have different answers", "agree"};
  }
  return {};
}

// The rows of n that are compared: all, or `most` that the answers themselves choose, so that they are not known in advance.
inline std::vector<Size> sample(Size n, Size most, ConstBuffers out, std::uint64_t stream) {
  std::vector<Size> rows;
  if (n <= most) {
    for (Size i = 0; i < n; ++i) rows.push_back(i);
    return rows;
  }
  std::uint64_t seed = stream;
  for (const auto& b : out)
    for (Size i = 0; i + 8 <= b.size(); i += std::max<Size>(8, b.size() / 1024 / 8 * 8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, b.data() + i, sizeof word);
      seed = random_bits(seed ^ word, 0);
    }
  for (Size i = 0; i < most; ++i) rows.push_back(random_bits(seed, i) % n);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Fills part by part.
class Filler {
 public:
  Filler(std::span<float> to, std::uint64_t seed) : to_(to), seed_(seed) {}
  // Normal numbers times `by`, plus `shift`.
  Filler& normal(Size count, double by, double shift = 0) {
    const auto part = to_.subspan(at_, count);
    fill_normal(part, random_bits(seed_, stream_++));
    scale_and_shift(part, static_cast<float>(by), static_cast<float>(shift));
    at_ += count;
    return *this;
  }
  // The next part is filled from another seed.
  Filler& from(std::uint64_t seed) {
    seed_ = seed;
    return *this;
  }

 private:
  std::span<float> to_;
  std::uint64_t seed_, stream_ = 0;
  Size at_ = 0;
};

inline Size columns_scratch(Size columns) { return 2 * 64 * columns; }  // nn::column_scratch

inline const std::map<std::string, double>& device() { return ridge::default_profile().device; }

// Times on the emulated device.
inline double all_reduce_seconds(double bytes, double p) {
  return device().at("kernel_latency") +
         2 * (p - 1) * (device().at("copy_latency") + bytes / p / device().at("peer_bandwidth"));
}
inline double stream_seconds(double bytes) {
  return device().at("kernel_latency") + bytes / (device().at("dram_bandwidth") * device().at("dram_efficiency"));
}

class Task : public TaskCheck {
 public:
  bool host_reads_inputs() const override { return false; }

 protected:
  static Size at(const Case& c, Size i) { return static_cast<Size>(c.size[i]); }
  static Case made(int ranks, std::array<std::int64_t, 8> size, std::string name) {
    Case c;
    c.ranks = ranks;
    c.size = size;
    c.name = fmt::format("{} rank{}, {}", ranks, ranks == 1 ? "" : "s", name);
    return c;
  }
  // The number of ranks of a measured case.
  static int measured_ranks(const Request& r) {
    return r.backend == Backend::cuda ? r.ranks.back() : std::min(2, r.ranks.back());
  }
};

// results[i] = of(i) for all of `which`, on all cores.
template <class Of>
auto spread(const std::vector<Size>& which, Of of) {
  std::vector<decltype(of(Size{}))> results(which.size());
  parallel_for(
      which.size(),
      [&](Size from, Size to) {
        for (Size i = from; i < to; ++i) results[i] = of(which[i]);
      },
      4);
  return results;
}

inline constexpr Size kMostMultiplications = Size{48} << 20;  // of one pass that is checked as a whole
inline constexpr Size kSampledRows = 12;

std::unique_ptr<TaskCheck> mlp();
std::unique_ptr<TaskCheck> sequence_parallel();
std::unique_ptr<TaskCheck> overlap();
std::unique_ptr<TaskCheck> attention();
std::unique_ptr<TaskCheck> cross_entropy();

}  // namespace ridge::lab::tensor_parallel
