#include "draws.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Elements with a chance of going up, for a message.
struct Shares {
  double elements = 0, up = 0, expected = 0;
  void add(bool is_up, double chance) { elements += 1, up += is_up ? 1 : 0, expected += chance; }
};

}  // namespace

std::string chances_off(const Draws& d, double from, double to, double deviations) {
  Shares of_bin, least;  // least: what 8 random bits never round up
  for (std::size_t i = 0; i < d.out.size(); ++i) {
    const double chance = d.chance(i);
    if (chance == 0) continue;
    if (chance >= from && chance < to) of_bin.add(d.up(i), chance);
    if (chance < 0x1p-8) least.add(d.up(i), chance);
  }
  if (deviations < 0 && from == 0 && least.up == 0 && least.expected > 16)
    return fmt::format(
        "where the difference lies less than 1/256 of the way to the next bf16 away from zero, none of "
        "{:.0f} is rounded that way, and about {:.0f} should be: are there 16 random bits for each?",
        least.elements, least.expected);
  const double all = of_bin.elements / 100;
  return fmt::format(
      "where the difference lies {} of the way to the next bf16 away from zero, {:.3g}% of {:.0f} are rounded that "
      "way, and {:.3g}% should be: {:.0f} standard deviations too {}",
      to - from == 1 ? "any part" : fmt::format("{:.0f}/16 to {:.0f}/16", 16 * from, 16 * to), of_bin.up / all,
      of_bin.elements, of_bin.expected / all, std::fabs(deviations), deviations > 0 ? "often" : "seldom");
}

std::string not_next(const Draws& d, std::size_t first) {
  constexpr std::size_t kMany = 16;  // elements, below which a pattern may be chance
  const std::size_t n = d.out.size();
  std::size_t bad = 0, beyond = 0, zeros = 0, with_fraction = 0, smaller = 0;
  std::size_t of_four[4] = {};
  double least_update = INFINITY, most_difference = 0;
  for (std::size_t i = 0; i < n; ++i) {
    with_fraction += d.chance(i) != 0 ? 1u : 0u;
    if (d.next_to(i)) continue;
    ++bad, ++of_four[i % 4];
    beyond += d.out[i].bits == (d.bits(i) >> 16) + (d.chance(i) != 0 ? 2 : 1) ? 1u : 0u;
    zeros += (d.out[i].bits & 0x7FFF) == 0 ? 1u : 0u;
    least_update = std::min(least_update, std::fabs(double{d.u[i]}));
    most_difference = std::max(most_difference, std::fabs(double{d.difference(i)}));
  }
  for (std::size_t i = 0; i < n; ++i) smaller += d.next_to(i) && std::fabs(double{d.u[i]}) < least_update ? 1u : 0u;
  if (bad < kMany) return {};
  std::string text = fmt::format("; {} of {} are wrong; ", bad, n);
  if (beyond == bad) {
    text += "each is one bf16 too far from zero";
    const double share = static_cast<double>(bad) / static_cast<double>(with_fraction);
    if (share > 0.09 && share < 0.16)
      text +=
          ". That share, an eighth, is what random bits give that are added before a rounding to nearest. Adding them "
          "is the rounding: cut off the lower 16 bits of the sum";
    return text;
  }
  if (zeros == bad)
    return text + fmt::format("all are 0, and their in - update is {:.3g} or less in size", most_difference);
  std::string shared;
  for (std::size_t r = 0; r < 4; ++r)
    if (of_four[r] == bad) shared = fmt::format("all are at i % 4 = {}", r);
  // Small updates are right.
  if (2 * smaller > n)
    shared +=
        fmt::format("{} an update of {:.3g} or more in size", shared.empty() ? "all have" : " and have", least_update);
  if (d.out[first].bits == d.w[first].bits)
    shared += fmt::format("{}out[{}] is still in[{}]", shared.empty() ? "" : ". ", first, first);
  return shared.empty() ? std::string() : text + shared;
}

Verdict one_number(const Draws& d) {
  constexpr std::size_t kTogether = 256, kEach = 16;
  std::size_t windows = 0, alike = 0, nearest = 0;
  for (std::size_t first = 0; first + kTogether <= d.out.size(); first += kTogether) {
    double most_down = 0, least_up = 1;
    std::size_t ups = 0, downs = 0;
    for (std::size_t i = first; i < first + kTogether; ++i) {
      const double chance = d.chance(i);
      if (chance == 0) continue;
      if (d.up(i))
        least_up = std::min(least_up, chance), ++ups;
      else
        most_down = std::max(most_down, chance), ++downs;
    }
    if (std::min(ups, downs) < kEach) continue;
    ++windows;
    if (most_down > least_up) continue;
    ++alike;
    if (most_down <= 0.5 && least_up >= 0.5) ++nearest;
  }
  // Nearly all windows: a few may be at a border between two numbers.
  if (windows < 4 || alike < windows - windows / 20) return {};
  if (nearest == alike)
    return wrong("each difference is rounded to the nearest bf16, and nothing is left to chance",
                 "rounding to nearest");
  return wrong(fmt::format("{} neighbours at a time are rounded by one random number: those that lie beyond one point "
                           "of the way to the next bf16 go up, and all others down. Each element must have random bits "
                           "of its own",
                           kTogether),
               "elements whose random numbers are related");
}

}  // namespace ridge::lab::mixed_precision
