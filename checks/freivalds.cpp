#include "freivalds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "compare.hpp"
#include "switches.hpp"

namespace ridge::lab {

namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

constexpr std::size_t kRows = 8, kCols = 128;  // a part of a matrix, in double, that stays in the L1 cache

// Rows first_row ..., of which the last is repeated where there are fewer than kRows, and columns first_col ...
void widen_part(const Matrix& m, std::size_t first_row, std::size_t first_col, std::size_t cols,
                double (&to)[kRows][kCols]) {
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t row = std::min(first_row + i, m.rows - 1);
    m.widen(static_cast<const std::byte*>(m.data) + (row * m.cols + first_col) * m.element_bytes, cols, to[i]);
  }
}

RIDGE_WIDE void widen_floats(const void* from, std::size_t count, double* to) {
  const auto* x = static_cast<const float*>(from);
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) to[k] = x[k];
}

RIDGE_WIDE void add_rows(const double (&part)[kRows][kCols], std::size_t cols, const Eight* x, const double* s,
                         Eight* of, double* squares) {
  for (std::size_t i = 0; i < kRows; ++i) {
    double square = 0;
#pragma omp simd reduction(+ : square)
    for (std::size_t j = 0; j < cols; ++j) square += part[i][j] * part[i][j] * s[j];
    squares[i] += square;
  }
  Eight sum[kRows];
  for (std::size_t j = 0; j < cols; ++j) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) sum[i].x += part[i][j] * x[j].x;
  }
  for (std::size_t i = 0; i < kRows; ++i) of[i].x += sum[i].x;
}

RIDGE_WIDE void add_columns(const double (&part)[kRows][kCols], std::size_t cols, const Eight* x, const double* s,
                            Eight* of, double* squares) {
  for (std::size_t i = 0; i < kRows; ++i) {
    const double weight = s[i];
#pragma omp simd
    for (std::size_t j = 0; j < cols; ++j) squares[j] += part[i][j] * part[i][j] * weight;
  }
  Eight held[kRows];
  for (std::size_t i = 0; i < kRows; ++i) held[i] = x[i];
  for (std::size_t j = 0; j < cols; ++j) {
    Eight sum = of[j];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) sum.x += part[i][j] * held[i].x;
    of[j] = sum;
  }
}

std::size_t groups(const Matrix& m) { return (m.rows + kRows - 1) / kRows; }
std::size_t grain(const Matrix& m) { return (1 << 18) / (m.cols + 1) / kRows + 1; }

// The terms of row i of c, as far as its rounding error depends on them: `sum` is the root of its summed squares. Wrong
// elements cannot hide behind it, since the tolerance is only about u sqrt(depth) of it.
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

// The lowest bit gives the sign.
double freivalds_entry(std::uint64_t stream, std::size_t j) {
  const std::uint64_t bits = random_bits(stream, j);
  const double size = 1 + static_cast<double>(bits >> 1 & 0xFFFF) / 65536;
  return (bits & 1) != 0 ? -size : size;
}

Matrix matrix_of(std::span<const float> m, std::size_t rows, std::size_t cols) {
  return {m.data(), rows, cols, sizeof(float), widen_floats};
}

bool compares_row(std::size_t row, std::size_t rows) { return compares(row / kRows, (rows + kRows - 1) / kRows); }

Products times(const Matrix& m, const std::vector<Eight>& x, const std::vector<double>& s, bool some) {
  Products p{std::vector<Eight>(m.rows), std::vector<double>(m.rows)};
  parallel_for(
      groups(m),
      [&](std::size_t from, std::size_t to) {
        double part[kRows][kCols];
        for (std::size_t row = from * kRows; row < std::min(to * kRows, m.rows); row += kRows) {
          if (some && !compares_row(row, m.rows)) continue;
          Eight of[kRows];
          double squares[kRows] = {};
          for (std::size_t col = 0; col < m.cols; col += kCols) {
            const std::size_t cols = std::min(kCols, m.cols - col);
            widen_part(m, row, col, cols, part);
            add_rows(part, cols, x.data() + col, s.data() + col, of, squares);
          }
          for (std::size_t i = 0; i < kRows && row + i < m.rows; ++i)
            p.of[row + i] = of[i], p.squares[row + i] = squares[i];
        }
      },
      grain(m));
  return p;
}

Products times_transposed(const Matrix& m, const std::vector<Eight>& x, const std::vector<double>& s) {
  Products p{std::vector<Eight>(m.cols), std::vector<double>(m.cols)};
  std::mutex mutex;
  parallel_for(
      groups(m),
      [&](std::size_t from, std::size_t to) {
        double part[kRows][kCols];
        Products sum{std::vector<Eight>(m.cols), std::vector<double>(m.cols)};
        for (std::size_t row = from * kRows; row < std::min(to * kRows, m.rows); row += kRows) {
          Eight of_row[kRows];  // zeros where there is no row
          double square_of_row[kRows] = {};
          for (std::size_t i = 0; i < kRows && row + i < m.rows; ++i)
            of_row[i] = x[row + i], square_of_row[i] = s[row + i];
          for (std::size_t col = 0; col < m.cols; col += kCols) {
            const std::size_t cols = std::min(kCols, m.cols - col);
            widen_part(m, row, col, cols, part);
            add_columns(part, cols, of_row, square_of_row, sum.of.data() + col, sum.squares.data() + col);
          }
        }
        std::lock_guard lock(mutex);
        for (std::size_t j = 0; j < m.cols; ++j) p.of[j].x += sum.of[j].x, p.squares[j] += sum.squares[j];
      },
      grain(m));
  return p;
}

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
        r[j].x[lane] = freivalds_entry(stream, j);
        if (!p.bias.empty()) bias.x[lane] += double{p.bias[j]} * r[j].x[lane];
      }
    }
    const Products br = times(matrix_of(p.b, p.depth, p.cols), r, ones);
    const Products expected = times(matrix_of(p.a, p.rows, p.depth), br.of, br.squares, true);
    const Products got = times(matrix_of(p.c, p.rows, p.cols), r, ones, true);
    for (std::size_t i = 0; i < p.rows; ++i) {
      if (!compares_row(i, p.rows)) continue;
      const Expected row = tolerance.of(row_of(p, expected.squares[i], bias_squares, got.squares[i]));
      for (int lane = 0; lane < lanes; ++lane) {
        Expected e = row;
        e.value = expected.of[i].x[lane] + bias.x[lane];
        e.deviation *= std::sqrt(kMeanSquareEntry);
        e.worst *= kLargestEntry;
        e.magnitude *= kLargestEntry;
        all.add(static_cast<std::size_t>(first + lane) * p.rows + i, got.of[i].x[lane], e);
      }
    }
  }
  if (!all.ok())
    return {false,
            "Freivalds' check, C r = A (B r) for random r: " +
                all.message([&](std::size_t i) { return fmt::format("row {} of C", i % p.rows); }),
            {},
            "correct",
            all.cause()};

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
      [&](std::size_t s) { return where(at[s]) + " of the sample"; }, p.depth, Extent::whole);
}

}  // namespace ridge::lab
