// Freivalds' check (1977) of a large product C = A B without making it: C r = A (B r) for random vectors r, in double
// precision. It costs O(rows x cols + rows x depth + depth x cols) a round.
//
// The entries of r are +-(1 + k / 65536) with k random below 65536, drawn after the submission answered. None is small,
// so a single wrong element is seen in every round. Errors that cancel in a row: with d the limit of rounding for the
// row and e its largest error, a round misses it with probability at most d / |e| + 2^-17 (fix all entries but that
// one), and k rounds with the k-th power: below 10^-8 for an error of ten limits and 8 rounds. The limit of a row is
// about sqrt(cols) times that of one element, since its rounding errors add up; sampled elements are held to their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "check.hpp"
#include "tolerance.hpp"
#include "wide.hpp"

namespace ridge::lab {

// rows x cols numbers of any kind, row-major: widen makes doubles of `count` of them.
struct Matrix {
  const void* data;
  std::size_t rows, cols, element_bytes;
  void (*widen)(const void* from, std::size_t count, double* to);
};
Matrix matrix_of(std::span<const float> m, std::size_t rows, std::size_t cols);

// Products of a matrix with eight vectors, and of its squared elements with one more. One pass reads the matrix for
// all.
struct Products {
  std::vector<Eight> of;
  std::vector<double> squares;
};
// of[i] = sum over j of m[i][j] x[j], squares[i] = sum over j of m[i][j]^2 s[j].
// `some`: of the rows that compares_row() names; the others stay 0.
Products times(const Matrix& m, const std::vector<Eight>& x, const std::vector<double>& s, bool some = false);
// Whether row `row` of a product's `rows` belongs to the share that is compared (share.hpp).
bool compares_row(std::size_t row, std::size_t rows);
// of[j] = sum over i of m[i][j] x[i], squares[j] = sum over i of m[i][j]^2 s[i].
Products times_transposed(const Matrix& m, const std::vector<Eight>& x, const std::vector<double>& s);

// An entry of r: +-[1, 2), entry `j` of vector `stream`.
double freivalds_entry(std::uint64_t stream, std::size_t j);
inline constexpr double kMeanSquareEntry = 7.0 / 3, kLargestEntry = 2;

// c = a b + bias, no element too large for a float: a is rows x depth, b depth x cols, c rows x cols, all row-major;
// bias has `cols` elements or none.
struct Product {
  std::span<const float> a, b, c, bias;
  std::size_t rows = 0, cols = 0, depth = 0;
};

inline constexpr int kFreivaldsRounds = 8;  // with an exact look at sampled elements beside it

// seed 0: drawn here and now, as the judge does; tests give another.
Verdict freivalds(const Product& p, const Tolerance& tolerance = {}, int rounds = kFreivaldsRounds,
                  std::uint64_t seed = 0);

}  // namespace ridge::lab
