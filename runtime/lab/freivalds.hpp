// Freivalds' check (1977) of a large product C = A B without making it: C r = A (B r) for random vectors r of +1 and -1,
// in double precision. It costs O(rows x cols + rows x depth + depth x cols) a round.
//
// A single wrong element is always seen, since no entry of r is 0. Errors of a row that cancel for one r are seen by the
// next with probability at least 1/2, whatever they are: the submission cannot know r, which is drawn after it answered.
// So `rounds` rounds miss with probability at most 2^-rounds a row, provided that the error is larger than what rounding
// explains. Of one element that is sqrt(cols) times its own tolerance: the rounding errors of its row add up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "check.hpp"
#include "tolerance.hpp"

namespace ridge::lab {

// c = a b + bias: a is rows x depth, b depth x cols, c rows x cols, all row-major; bias has `cols` elements or none.
struct Product {
  std::span<const float> a, b, c, bias;
  std::size_t rows = 0, cols = 0, depth = 0;
};

inline constexpr int kFreivaldsRounds = 8;  // with an exact look at sampled elements beside it

// seed 0: drawn here and now, as the judge does; tests give another.
Verdict freivalds(const Product& p, const Tolerance& tolerance = {}, int rounds = kFreivaldsRounds,
                  std::uint64_t seed = 0);

}  // namespace ridge::lab
