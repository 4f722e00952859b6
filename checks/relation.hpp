// How a wrong answer stands to the right one: a factor, a difference, right numbers at wrong places. A sentence for the
// message; it says what is in the numbers, and no cause.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::lab {

struct Answered {
  double expected = 0, got = 0;
  bool wrong = false;
};

// `columns`: of a matrix, else 0. `modulo`: of unsigned integers 2^32, else 0. Empty where nothing simple is found.
std::string relation(const std::vector<Answered>& all, std::size_t columns, double modulo);

}  // namespace ridge::lab
