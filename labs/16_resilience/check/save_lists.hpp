// Task `save`: lists of steps for agreed_step, and the right answer.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "../save_plan.hpp"
#include "checks/check.hpp"
#include "checks/one_way.hpp"

namespace ridge::lab::resilience::saved {

// The lists of steps that agreed_step gets, packed as lists_of() in save_call.hpp reads them, and the answer.
struct Lists {
  std::int64_t packed = 0;
  long long agreed = -1;
};
inline Lists lists_of(const Case& c, int number) {
  Lists lists;
  int having[16] = {};
  for (int rank = 0; rank < kListRanks; ++rank) {
    int at = 0;
    const auto draw = one_way_seed(c.secret, "list", static_cast<std::uint64_t>(number * kListRanks + rank));
    for (int step = 8; step > 0 && at < kListSteps; --step) {
      // Each rank has three steps of four; every fourth list is empty on one rank.
      if ((draw >> 2 * step & 3) == 0 || (number % 4 == 3 && rank == number / 4 % kListRanks)) continue;
      lists.packed |= static_cast<std::int64_t>(step) << 4 * (rank * kListSteps + at++);
      if (++having[step] == kListRanks) lists.agreed = std::max<long long>(lists.agreed, step);
    }
  }
  return lists;
}

// What each rank can load, in words.
inline std::string text_of(const Lists& lists) {
  std::string all;
  for (int i = 0; i < kListRanks * kListSteps; ++i) {
    if (i % kListSteps == 0) all += fmt::format("{}rank {} can load", all.empty() ? "" : "; ", i / kListSteps);
    if (const auto step = lists.packed >> 4 * i & 15; step > 0) all += fmt::format(" {}", step);
  }
  return all;
}

}  // namespace ridge::lab::resilience::saved
