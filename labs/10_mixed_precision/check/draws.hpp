// What rounding by chance did with each element.
#pragma once
#include "common.hpp"

namespace ridge::lab::mixed_precision {

// Sums of deviations that have the mean 0 if all is well, in standard deviations of honest ones.
struct Deviation {
  double sum = 0, variance = 0;
  void add(double x, double v) { sum += x, variance += v; }
  // One honest comparison in ten billion exceeds it, given a few dozen terms.
  bool beyond() const { return variance > 4 && std::fabs(sum) > 6.5 * std::sqrt(variance); }
  double in_deviations() const { return sum / std::sqrt(variance); }
};

// For each element: how probable the step away from zero was, and whether it happened.
struct Draws {
  std::span<const Bf16> w;
  std::span<const float> u;
  std::span<const Bf16> out;
  float difference(std::size_t i) const { return static_cast<float>(static_cast<double>(w[i])) - u[i]; }  // in fp32
  std::uint32_t bits(std::size_t i) const { return std::bit_cast<std::uint32_t>(difference(i)); }
  double chance(std::size_t i) const { return static_cast<double>(bits(i) & 0xffff) / 65536; }
  bool up(std::size_t i) const { return out[i].bits != bits(i) >> 16; }
  bool next_to(std::size_t i) const {
    const std::uint32_t b = bits(i), below = b >> 16, got = out[i].bits;
    return got == below || (got == below + 1 && (b & 0xffff) != 0);
  }
  double off(std::size_t i) const { return up(i) - chance(i); }
  double variance(std::size_t i) const { return chance(i) * (1 - chance(i)); }
};
// In words: a bin of chances, [from, to), that is rounded away from zero too often or too seldom.
std::string chances_off(const Draws& d, double from, double to, double deviations);
// What the elements that are not next to their difference have in common; `first` is one. Empty, or from "; " on.
std::string not_next(const Draws& d, std::size_t first);
// Refuses neighbours that are rounded as by one number: up where they lie beyond a certain part of the way, else down.
Verdict one_number(const Draws& d);

}  // namespace ridge::lab::mixed_precision
