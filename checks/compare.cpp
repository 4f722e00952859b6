#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include "switches.hpp"
#include "wide.hpp"

namespace ridge::lab {

void parallel_for(std::size_t n, const std::function<void(std::size_t, std::size_t)>& body, std::size_t grain) {
  std::size_t workers = std::clamp<std::size_t>(n / grain, 1, std::max(1u, std::thread::hardware_concurrency()));
  if (workers == 1) {
    body(0, n);
    return;
  }
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] { body(n * w / workers, n * (w + 1) / workers); });
}

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, const std::string& expected,
                     const std::string& got, const std::string& where) {
  return fmt::format("first wrong element: {} (index {}): expected {}, got {}; {} of {} are wrong{}", where, first,
                     expected, got, wrong, total,
                     !only_last(first, wrong, total) ? ""
                     : wrong == 1                    ? ", the last one"
                                                     : ", the last ones");
}

Cause cause_of_nan(double got, bool only_last) {
  return computed_nan(got) ? Cause::computed_nan : only_last ? Cause::unwritten_tail : Cause::not_a_number;
}

bool computed_nan(double got) {
  return (std::bit_cast<std::uint32_t>(static_cast<float>(got)) & 0x7FFFFFFFu) == 0x7FC00000u;
}

std::string origin_of_nan(double got) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(got));
  const std::uint32_t high = bits >> 16, low = bits & 0xFFFFu;
  if (bits == 0xFFFEFEFEu) return " (NaN, from a value that is undefined)";  // of a shuffle
  const bool whole = low == 0xFFFFu || low == 0;                             // a float, or a bf16 that became one
  if (whole && high == 0xFFFFu)
    return " (NaN, as new memory holds it: shared memory or an allocation was read before it was written)";
  const bool filled = low == 0 ? high != 0x7FFFu : judges_fill(bits) && bits != 0x7FFFFFFFu;  // these a GPU computes
  if (!filled || (high & 0x7F90u) != 0x7F90u) return " (NaN: never written, or computed from memory that was not set)";
  return (high & 8) != 0
             ? " (NaN, the judge's fill of outputs: no thread wrote it, or one added to it before it was set)"
             : " (NaN, the judge's fill of the workspace: read there before it was written)";
}

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, double expected, double got,
                     const std::string& where) {
  const std::string note = !std::isnan(got)    ? ""
                           : computed_nan(got) ? " (NaN: arithmetic made it, as inf - inf or 0 * inf do)"
                                               : origin_of_nan(got);
  if (std::isnan(got)) got = std::fabs(got);  // its sign says nothing
  return mismatch(first, wrong, total, fmt::format("{:.8g}", expected), fmt::format("{:.8g}{}", got, note), where);
}

namespace {
constexpr double kLowPrecision = 0.02;  // of the magnitude: bf16 makes less than a fifth of this error
}  // namespace

CloseTally::CloseTally(std::size_t total)
    : total_(total), first_(total), picture_(total), largest_(largest_deviation(static_cast<double>(total))) {}

bool CloseTally::wrong(double got, const Expected& e) const {
  if (std::isnan(got) || std::isnan(e.value)) return switches().explicit_nan && std::isnan(got) != std::isnan(e.value);
  if (std::isinf(got) || std::isinf(e.value)) return got != e.value;
  const double limit = switches().tolerance ? std::min(largest_ * e.deviation, e.worst) : 0.01 * e.magnitude;
  return std::fabs(got - e.value) > limit;
}

void CloseTally::add(std::size_t i, double got, const Expected& e) {
  ++seen_;
  const bool bad = wrong(got, e);
  picture_.note(i, e.value, got, bad);
  if (bad) {
    if (wrong_++ == 0) {
      first_ = i;
      first_got_ = got;
      first_expected_ = e;
    }
    const double off = std::fabs(got - e.value);  // an infinity or NaN is no matter of precision
    most_off_ = std::max(most_off_, std::isfinite(off) && e.magnitude > 0 ? off / e.magnitude : 1);
    if (std::fabs(e.value) > 1e4 * e.deviation || std::isnan(got)) {
      const double factor = std::isnan(got) ? -std::numeric_limits<double>::infinity() : got / e.value;
      ++factors_;
      least_factor_ = std::min(least_factor_, factor);
      most_factor_ = std::max(most_factor_, factor);
    }
  }
  if (!std::isfinite(got) || !std::isfinite(e.value) || e.deviation <= 0) return;
  const double z = (got - e.value) / e.deviation;
  ++counted_;
  squares_ += z * z;
  const double away = std::copysign(z, z * e.value);  // positive: away from zero
  if (!e.leans) bias_ += away;
  short_ += away < 0 ? 1 : 0;
  beyond_ += away > 0 ? 1 : 0;
}

namespace {
struct Sums {
  bool good;  // all are numbers and near enough
  double counted, squares, bias, nearer, beyond;
};

// The sums that CloseTally::add makes of single elements, for elements that are all good.
RIDGE_WIDE Sums sums_of(const double* got, const Expecteds& e, std::size_t count, double largest) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  double counted = 0, squares = 0, bias = 0, nearer = 0, beyond = 0;
  int bad = 0;
#pragma omp simd reduction(+ : counted, squares, bias, nearer, beyond) reduction(| : bad)
  for (std::size_t k = 0; k < count; ++k) {
    const double error = got[k] - e.value[k], deviation = e.deviation[k];
    const double limit = std::min(std::min(largest * deviation, e.worst[k]), most);
    bad |= std::fabs(error) <= limit ? 0 : 1;  // a NaN is bad too
    const double z = error / (deviation > 0 ? deviation : infinity);
    counted += deviation > 0 ? 1.0 : 0.0;
    squares += z * z;
    const double away = std::copysign(1.0, e.value[k]) * z;
    bias += away;
    nearer += away < 0 ? 1.0 : 0.0;
    beyond += away > 0 ? 1.0 : 0.0;
  }
  return {bad == 0, counted, squares, bias, nearer, beyond};
}
}  // namespace

void CloseTally::add(std::size_t first, std::span<const double> got, const Expecteds& e) {
  if (switches().tolerance && switches().explicit_nan && !picture_.wanted()) {
    if (const Sums s = sums_of(got.data(), e, got.size(), largest_); s.good) {
      seen_ += got.size();
      counted_ += static_cast<std::size_t>(s.counted);
      squares_ += s.squares;
      if (!e.leans) bias_ += s.bias;
      short_ += s.nearer;
      beyond_ += s.beyond;
      return;
    }
  }
  for (std::size_t k = 0; k < got.size(); ++k) add(first + k, got[k], e[k]);
}

void CloseTally::merge(const CloseTally& other) {
  seen_ += other.seen_;
  wrong_ += other.wrong_;
  counted_ += other.counted_;
  picture_.merge(other.picture_);
  squares_ += other.squares_;
  bias_ += other.bias_;
  short_ += other.short_;
  beyond_ += other.beyond_;
  most_off_ = std::max(most_off_, other.most_off_);
  factors_ += other.factors_;
  least_factor_ = std::min(least_factor_, other.least_factor_);
  most_factor_ = std::max(most_factor_, other.most_factor_);
  if (other.first_ >= first_) return;
  first_ = other.first_;
  first_got_ = other.first_got_;
  first_expected_ = other.first_expected_;
}

bool CloseTally::norms_off() const {
  if (!switches().norms || counted_ == 0) return false;
  const auto n = static_cast<double>(counted_);
  return squares_ / n > mean_square_limit(n) || std::fabs(bias_ / n) > bias_limit(n);
}

// The ratio of got to expected that all wrong elements have in common, where they do: a sum that was not divided, a
// sign, nothing stored but zeros.
std::optional<double> CloseTally::common_factor() const {
  if (factors_ < 4 || 2 * factors_ < wrong_ || !std::isfinite(least_factor_) || !std::isfinite(most_factor_)) return {};
  if (least_factor_ == 0 && most_factor_ == 0) return 0;
  const double factor = (least_factor_ + most_factor_) / 2;
  if (most_factor_ - least_factor_ > 1e-3 * std::fabs(factor) || std::fabs(factor - 1) < 0.02) return {};
  return factor;
}

Cause CloseTally::cause() const {
  if (wrong_ == 0) return Cause::imprecise;
  if (std::isnan(first_got_)) return cause_of_nan(first_got_, only_last(first_, wrong_, total_));
  const std::optional<double> factor = common_factor();
  return !factor ? Cause::none : *factor == 0 ? Cause::all_zero : Cause::one_factor;
}

std::string CloseTally::message(const Where& where) const {
  if (wrong_ > 0) {
    std::string text = mismatch(first_, wrong_, total_, first_expected_.value, first_got_, where(first_));
    if (const auto factor = common_factor())
      return text + (*factor == 0 ? "; all wrong elements are 0"
                                  : fmt::format("; each wrong element is {:.3g} times the expected one", *factor));
    if (const std::string told = picture_.told(where, 0); !told.empty()) return text + told;
    const double error = std::fabs(first_got_ - first_expected_.value);
    if (std::isfinite(error) && first_expected_.magnitude > 0 && error < kLowPrecision * first_expected_.magnitude) {
      text += fmt::format("; the error is {:.1e}, rounding gives about {:.1e}", error, first_expected_.deviation);
      // A lower precision is in all elements, and in none much.
      if (4 * wrong_ > seen_ && most_off_ < 3 * kLowPrecision) text += ": was a lower precision used?";
    }
    return text;
  }
  const auto n = static_cast<double>(counted_);
  const std::string begin = fmt::format("all {} elements are nearly right, but ", total_);
  if (short_ > 9 * beyond_)
    return begin + fmt::format(
                       "{:.0f} of {:.0f} errors point towards zero, and those of rounding point both ways: are "
                       "bits cut off, and not rounded?",
                       short_, short_ + beyond_);
  const std::string question = "was a lower precision used, or a term left out?";
  if (squares_ / n > mean_square_limit(n))
    return begin + fmt::format("the errors are larger than rounding explains, {:.1f} times as large: {}",
                               std::sqrt(squares_ / n), question);
  return begin + fmt::format("on average they are {} zero by {:.2f} of a usual rounding error: {}",
                             bias_ > 0 ? "further from" : "nearer to", std::fabs(bias_ / n), question);
}

#ifdef RIDGE_DEFENCE_SWITCHES
Switches& switches() {
  static Switches all;
  return all;
}
#endif

namespace {
std::map<std::string, Factory>& factories() {
  static std::map<std::string, Factory> map;
  return map;
}
}  // namespace

bool add_lab(const char* lab, Factory factory) { return factories().emplace(lab, factory).second; }

TaskChecks checks_of(const std::string& lab) {
  auto at = factories().find(lab);
  return at == factories().end() ? TaskChecks{} : at->second();
}

}  // namespace ridge::lab
