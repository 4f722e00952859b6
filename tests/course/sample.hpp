// Which wrong solutions of a lab the ordinary test judges: chosen by a seed.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/build/wrong_solution.hpp"

namespace ridge::test {

constexpr std::size_t kKindsADay = 3;

// At most three kinds of check, one wrong solution each. Seeds that follow each other take the kinds in turn, and the wrong
// solutions of a kind in turn, so enough of them choose all. A test on the emulator judges no others, so those of other
// backends are left out.
inline std::vector<WrongSolution> sample(const std::vector<WrongSolution>& all, std::uint64_t seed) {
  std::map<std::string, std::vector<const WrongSolution*>> kinds;
  for (const WrongSolution& w : all)
    if (w.backend == ridge::lab::Backend::cpu) kinds[w.check].push_back(&w);
  const std::size_t at_once = std::min(kinds.size(), kKindsADay);
  std::vector<WrongSolution> chosen;
  std::size_t turn = seed;
  for (const auto& [check, wrong] : kinds) {
    const std::size_t place = turn % kinds.size(), before = turn / kinds.size() * at_once;
    if (place < at_once) chosen.push_back(*wrong[(before + place) % wrong.size()]);
    ++turn;
  }
  return chosen;
}

// RIDGE_COURSE_SEED, a whole number; without it the days since 1970, so that each day judges others.
inline std::uint64_t sample_seed() {
  const char* given = std::getenv("RIDGE_COURSE_SEED");
  if (given == nullptr || *given == 0) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::hours>(now).count() / 24);
  }
  const std::string text = given;
  if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18)
    throw std::runtime_error("RIDGE_COURSE_SEED is no whole number: " + text);
  return std::stoull(text);
}

}  // namespace ridge::test
