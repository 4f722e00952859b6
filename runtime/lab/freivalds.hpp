// Freivalds' check (1977) of a large product C = A B without making it: C r = A (B r) for random vectors r, in double
// precision. It costs O(rows x cols + rows x depth + depth x cols) a round.
//
// The entries of r are +-(1 + k / 65536) with k random below 65536, drawn after the submission answered. None is small, so
// a single wrong element is seen in every round. Errors that cancel in a row: with d the limit of rounding for the row and
// e its largest error, a round misses it with probability at most d / |e| + 2^-17 (fix all entries but that one), and k
// rounds with the k-th power: below 10^-8 for an error of ten limits and 8 rounds. The limit of a row is about
// sqrt(cols) times that of one element, since its rounding errors add up; sampled elements are held to their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "check.hpp"
#include "tolerance.hpp"

namespace ridge::lab {

// c = a b + bias, no element too large for a float: a is rows x depth, b depth x cols, c rows x cols, all row-major; bias has `cols` elements or none.
struct Product {
  std::span<const float> a, b, c, bias;
  std::size_t rows = 0, cols = 0, depth = 0;
};

inline constexpr int kFreivaldsRounds = 8;  // with an exact look at sampled elements beside it

// seed 0: drawn here and now, as the judge does; tests give another.
Verdict freivalds(const Product& p, const Tolerance& tolerance = {}, int rounds = kFreivaldsRounds,
                  std::uint64_t seed = 0);

}  // namespace ridge::lab
