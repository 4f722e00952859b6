#include "freivalds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "compare.hpp"
#include "switches.hpp"
#include "wide.hpp"

namespace ridge::lab {

namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// +-[1, 2).
double entry(std::uint64_t seed, std::size_t j) {
  const std::uint64_t bits = random_bits(seed, j);
  const double size = 1 + static_cast<double>(bits >> 1 & 0xFFFF) / 65536;
  return (bits & 1) != 0 ? -size : size;
}
constexpr double kMeanSquare = 7.0 / 3, kLargest = 2;  // of an entry

// What a matrix makes of eight vectors at once, and its squares of one more: they are read from memory once for all.
struct Products {
  std::vector<Eight> of;        // of[i] = sum over j of m[i][j] x[j]
  std::vector<double> squares;  // squares[i] = sum over j of m[i][j]^2 s[j]
};

constexpr std::size_t kRows = 8, kCols = 128;  // a part of the matrix, in double, that stays in the L1 cache

// m: kRows x cols, the rows where `m` says. Adds to `of` and `squares`.
RIDGE_WIDE void add_products(const float* const* m, std::size_t cols, const Eight* x, const double* s, Eight* of,
                             double* squares) {
  double part[kRows][kCols];
  Eight sum[kRows];
  for (std::size_t first = 0; first < cols; first += kCols) {
    const std::size_t count = std::min(kCols, cols - first);
    for (std::size_t i = 0; i < kRows; ++i) {
      const float* row = m[i] + first;
      const double* weight = s + first;
      double square = 0;
#pragma omp simd reduction(+ : square)
      for (std::size_t j = 0; j < count; ++j) {
        const double v = row[j];
        part[i][j] = v;
        square += v * v * weight[j];
      }
      squares[i] += square;
    }
    for (std::size_t j = 0; j < count; ++j) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kRows; ++i) sum[i].x += part[i][j] * x[first + j].x;
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) of[i] = sum[i];
}

// m is rows x cols.
Products times(std::span<const float> m, std::size_t rows, std::size_t cols, const std::vector<Eight>& x,
               const std::vector<double>& s) {
  Products p{std::vector<Eight>(rows), std::vector<double>(rows)};
  parallel_for((rows + kRows - 1) / kRows,
               [&](std::size_t from, std::size_t to) {
                 for (std::size_t i = from * kRows; i < std::min(to * kRows, rows); i += kRows) {
                   const float* at[kRows];
                   Eight of[kRows];
                   double squares[kRows] = {};
                   for (std::size_t k = 0; k < kRows; ++k) at[k] = m.data() + std::min(i + k, rows - 1) * cols;
                   add_products(at, cols, x.data(), s.data(), of, squares);
                   for (std::size_t k = 0; k < kRows && i + k < rows; ++k)
                     p.of[i + k] = of[k], p.squares[i + k] = squares[k];
                 }
               },
               (1 << 18) / (cols + 1) / kRows + 1);
  return p;
}

// What row i of c says about the rounding errors in it: `sum` stands for the root of its summed squares, which wrong
// elements cannot use to hide, since the tolerance takes only a part of about u sqrt(depth) of it.
Reduction row_of(const Product& p, double ab_squares, double bias_squares, double c_squares) {
  Reduction row;
  row.length = static_cast<double>(p.depth + (p.bias.empty() ? 0 : 1));
  row.sum = std::sqrt(c_squares);
  row.squares = ab_squares + bias_squares;
  row.magnitude = std::sqrt(row.squares * row.length * static_cast<double>(p.cols));
  return row;
}

RIDGE_WIDE bool all_finite(std::span<const float> values) {
  int bad = 0;
  for (float v : values) bad |= std::fabs(v) <= std::numeric_limits<float>::max() ? 0 : 1;
  return bad == 0;
}

Verdict no_nan(const Product& p, const Where& where) {
  std::atomic<std::size_t> wrong{0}, first{p.c.size()};
  parallel_for(p.c.size(), [&](std::size_t from, std::size_t to) {
    if (all_finite(p.c.subspan(from, to - from))) return;
    for (std::size_t i = from; i < to; ++i) {
      if (std::isfinite(p.c[i])) continue;
      ++wrong;
      std::size_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
    }
  });
  if (wrong == 0) return {};
  return {false, mismatch(first, wrong, p.c.size(), "a number", fmt::format("{}", p.c[first]), where(first))};
}

}  // namespace

Verdict freivalds(const Product& p, const Tolerance& tolerance, int rounds, std::uint64_t seed) {
  const Where where = [&](std::size_t i) { return fmt::format("C[{}][{}]", i / p.cols, i % p.cols); };
  if (switches().explicit_nan)
    if (Verdict v = no_nan(p, where); !v.ok) return v;
  if (seed == 0) seed = fresh_seed();
  double bias_squares = 0;
  for (float x : p.bias) bias_squares += double{x} * double{x};

  constexpr int kLanes = 8;
  const std::vector<double> ones(p.cols, 1);
  CloseTally all(p.rows * static_cast<std::size_t>(rounds));
  for (int first = 0; first < rounds; first += kLanes) {
    const int lanes = std::min(kLanes, rounds - first);
    std::vector<Eight> r(p.cols);
    Eight bias;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::uint64_t stream = random_bits(seed, static_cast<std::uint64_t>(first + lane));
      for (std::size_t j = 0; j < p.cols; ++j) {
        r[j].x[lane] = entry(stream, j);
        if (!p.bias.empty()) bias.x[lane] += double{p.bias[j]} * r[j].x[lane];
      }
    }
    const Products br = times(p.b, p.depth, p.cols, r, ones);
    const Products expected = times(p.a, p.rows, p.depth, br.of, br.squares);
    const Products got = times(p.c, p.rows, p.cols, r, ones);
    for (std::size_t i = 0; i < p.rows; ++i) {
      const Expected row = tolerance.of(row_of(p, expected.squares[i], bias_squares, got.squares[i]));
      for (int lane = 0; lane < lanes; ++lane) {
        Expected e = row;
        e.value = expected.of[i].x[lane] + bias.x[lane];
        e.deviation *= std::sqrt(kMeanSquare);
        e.worst *= kLargest;
        e.magnitude *= kLargest;
        all.add(static_cast<std::size_t>(first + lane) * p.rows + i, got.of[i].x[lane], e);
      }
    }
  }
  if (!all.ok())
    return {false, "Freivalds' check, C r = A (B r) for random r: " +
                       all.message([&](std::size_t i) { return fmt::format("row {} of C", i % p.rows); })};

  // Some elements by themselves: these have the tolerance of one element.
  const std::size_t samples = std::min<std::size_t>(p.c.size(), 512);
  std::vector<std::size_t> at(samples);
  std::vector<float> got(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    at[s] = random_bits(seed, 1000 + s) % p.c.size();
    got[s] = p.c[at[s]];
  }
  return compare_close<float>(
      got,
      [&](std::size_t s) {
        const std::size_t i = at[s] / p.cols, j = at[s] % p.cols;
        Reduction sum;
        for (std::size_t k = 0; k < p.depth; ++k) sum.add(double{p.a[i * p.depth + k]} * double{p.b[k * p.cols + j]});
        if (!p.bias.empty()) sum.add(p.bias[j]);
        return tolerance.of(sum);
      },
      [&](std::size_t s) { return where(at[s]) + " of the sample"; }, p.depth);
}

}  // namespace ridge::lab
