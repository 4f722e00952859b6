#include "learn/findings/case_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace ridge::loop {

namespace {

bool of_one_rank(const std::string& name) { return name.starts_with("1 rank"); }

// The largest number of a case's name, where "33 x 65" counts as their product: as good as its number of elements.
double elements_of(const std::string& name) {
  double most = 0, product = 1;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t first = name.find_first_of("0123456789", at);
    if (first == std::string::npos) break;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", first), name.size());
    product *= std::strtod(name.c_str() + first, nullptr);
    most = std::max(most, product);
    at = end;
    if (name.compare(end, 3, " x ") != 0) product = 1;
  }
  return most;
}

}  // namespace

std::string case_advice(const TaskResult& t) {
  std::vector<std::string> right;
  for (const CaseResult& c : t.cases)
    if (c.passed) right.push_back(c.name);
  if (right.empty())
    return "This is the first case: compute its first wrong element by hand, with the indices that your threads use.";
  if (std::all_of(right.begin(), right.end(), of_one_rank) && !of_one_rank(t.cases.back().name))
    return "All cases of 1 rank are right, and this is the first of more. What does another rank change: an offset, "
           "which part is its own, a sum over the ranks that is missing or made twice?";
  constexpr std::size_t kNamed = 4;
  const std::size_t from = right.size() - std::min(right.size(), kNamed);
  std::string names;
  for (std::size_t i = from; i < right.size(); ++i) names += (i > from ? "; " : "") + right[i];
  constexpr double kFew = 32;  // no second warp, and so no second block or tile
  return fmt::format(
      "{} {} right ({}{}). What does this one have that {} not: {}?",
      right.size() == 1 ? std::string("The case before it") : fmt::format("{} cases before it", right.size()),
      right.size() == 1 ? "is" : "are", from > 0 ? "the last: " : "", names, right.size() == 1 ? "it has" : "they have",
      elements_of(t.cases.back().name) <= kFew
          ? "more elements than one, neighbours, an edge, rows and columns that differ"
          : "a second block or tile, a second step of a loop, a row that is longer than a warp or a block, a tail");
}

}  // namespace ridge::loop
