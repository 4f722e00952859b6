// What the checks of lab 10 share: 16-bit numbers, the state of a loss scale. Expected answers are in double precision.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "checks/bf16.hpp"
#include "checks/check.hpp"
#include "checks/compare.hpp"

namespace ridge::lab::mixed_precision {

inline std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }
inline std::size_t padded(std::size_t n) { return (n + 63) / 64 * 64; }

struct Half {
  std::uint16_t bits;
};
inline Half to_half(float x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const double a = std::fabs(static_cast<double>(x));
  if (a == 0) return {sign};
  const int exponent = std::max(std::ilogb(a), -14);                  // below that all numbers are as far apart
  const double units = std::nearbyint(std::ldexp(a, 10 - exponent));  // of the last place; to even in the default mode
  // Consecutive numbers have consecutive bits, over the borders of exponents too.
  const auto magnitude = static_cast<int>(units) + (exponent + 14) * 1024;
  return {static_cast<std::uint16_t>(sign | std::min(magnitude, 0x7C00))};
}

inline double value_of(Half x) {
  const int exponent = x.bits >> 10 & 31, mantissa = x.bits & 1023;
  const double size = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                      : exponent == 0 ? std::ldexp(mantissa, -24)
                                      : std::ldexp(1024 + mantissa, exponent - 25);
  return (x.bits & 0x8000) != 0 ? -size : size;
}

// As in precision.hpp.
struct LossScale {
  float scale, unscale;
  std::int32_t good_steps, updates, skip;
};
inline constexpr float kLeastScale = 1, kMostScale = 0x1p40f;

inline LossScale after(LossScale s, bool found, std::int64_t interval) {
  s.unscale = 1 / s.scale;
  s.skip = found ? 1 : 0;
  if (found) {
    s.scale = std::max(s.scale / 2, kLeastScale);
    s.good_steps = 0;
    return s;
  }
  ++s.updates;
  if (++s.good_steps == interval) {
    s.scale = std::min(s.scale * 2, kMostScale);
    s.good_steps = 0;
  }
  return s;
}

inline std::int64_t fitting(std::int64_t want, double bytes, const Request& r) {
  while (want > 1024 && static_cast<double>(want) * bytes > static_cast<double>(r.memory)) want /= 2;
  return want;
}

inline Where named(const char* what) {
  return [what](std::size_t i) { return fmt::format("{}[{}]", what, i); };
}

inline Verdict wrong(std::string why, std::string secret) { return {false, std::move(why), std::move(secret)}; }

std::unique_ptr<TaskCheck> sum();
std::unique_ptr<TaskCheck> adamw();
std::unique_ptr<TaskCheck> stochastic();
std::unique_ptr<TaskCheck> loss_scaler();
std::unique_ptr<TaskCheck> train();

}  // namespace ridge::lab::mixed_precision
