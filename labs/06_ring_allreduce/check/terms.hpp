// Which ranks' values a wrong sum holds, for messages. Every combination is tried in double precision, and named only
// where it is the one that fits.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "checks/compare.hpp"

namespace ridge::lab::ring_allreduce {

using Times = std::vector<int>;  // by rank: how often its value is in a sum, 0 to 2

// Element i of all ranks, and what one rank made of them.
struct Element {
  std::vector<double> values;  // by rank
  double got;
};

// Whether `got` is the sum with these times, up to rounding.
inline bool fits(const Element& e, const Times& times, const SumTolerance& tolerance) {
  double sum = 0, magnitude = 0, squares = 0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double x = times[k] * e.values[k];
    sum += x, magnitude += std::fabs(x), squares += x * x;
  }
  const Expected expected = tolerance.of(sum, magnitude, squares);
  return std::fabs(e.got - sum) <= std::min(8 * expected.deviation, expected.worst);
}

// The times that fit all of `elements`, where exactly one choice does; else none.
inline Times times_in(const std::vector<Element>& elements, const SumTolerance& tolerance) {
  const std::size_t p = elements.front().values.size();
  constexpr std::size_t kMostRanks = 8, kRanksOfOneElement = 4;  // with more, one element fits by chance
  if (p > (elements.size() > 1 ? kMostRanks : kRanksOfOneElement)) return {};
  Times times(p, 0), found;
  for (std::size_t k = 0; k < p;) {
    bool all = true;
    for (const Element& e : elements) all = all && fits(e, times, tolerance);
    if (all && !found.empty()) return {};
    if (all) found = times;
    for (k = 0; k < p && ++times[k] > 2; ++k) times[k] = 0;
  }
  return found;
}

inline std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0 ? "" : i + 1 < ranks.size() ? ", " : " and ") + std::to_string(ranks[i]);
  return text;
}

// "in out[0] the value of rank 0 is added twice". `rank` has made the sum `name`.
inline std::string terms_text(const Times& times, const std::string& name, int rank, int per_node) {
  std::vector<int> absent, once, twice;
  bool own_node = per_node < static_cast<int>(times.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    const int r = static_cast<int>(k);
    (times[k] == 0 ? absent : times[k] == 1 ? once : twice).push_back(r);
    own_node = own_node && times[k] == (r / per_node == rank / per_node ? 1 : 0);
  }
  if (once.size() == times.size() || absent.size() == times.size()) return {};
  if (own_node)
    return fmt::format("{} is the sum of rank {}'s own node ({}): nothing of other nodes is in it", name, rank,
                       ranks_text(once));
  std::string text = fmt::format("in {} ", name);
  if (!absent.empty())
    text += fmt::format("{} of {} {} missing", absent.size() == 1 ? "the value" : "the values", ranks_text(absent),
                        absent.size() == 1 ? "is" : "are");
  if (!twice.empty())
    text += fmt::format("{}{} of {} {} added twice", absent.empty() ? "" : ", and ",
                        twice.size() == 1 ? "the value" : "the values", ranks_text(twice),
                        twice.size() == 1 ? "is" : "are");
  return text;
}

}  // namespace ridge::lab::ring_allreduce
