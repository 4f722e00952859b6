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

// +-[1, 2).
double entry(std::uint64_t seed, std::size_t j) {
  const std::uint64_t bits = random_bits(seed, j);
  const double size = 1 + static_cast<double>(bits >> 1 & 0xFFFF) / 65536;
  return (bits & 1) != 0 ? -size : size;
}
constexpr double kMeanSquare = 7.0 / 3, kLargest = 2;  // of an entry

double itself(double x) { return x; }
double square(double x) { return x * x; }

// out[i] = sum over j of f(m[i][j]) x[j]; m is rows x cols.
template <class F>
std::vector<double> times(std::span<const float> m, std::size_t rows, std::size_t cols, const std::vector<double>& x,
                          F f) {
  std::vector<double> out(rows);
  parallel_for(
      rows,
      [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          const float* row = m.data() + i * cols;
          double sum = 0;
          for (std::size_t j = 0; j < cols; ++j) sum += f(double{row[j]}) * x[j];
          out[i] = sum;
        }
      },
      (1 << 18) / (cols + 1) + 1);
  return out;
}

// What row i of c says about the rounding errors in it: `sum` stands for the root of its summed squares, which wrong
// elements cannot use to hide, since the tolerance takes only a part of about u sqrt(depth) of it.
std::vector<Reduction> rows_of(const Product& p) {
  const std::vector<double> ones(std::max(p.cols, p.depth), 1);
  std::vector<double> b_squares = times(p.b, p.depth, p.cols, ones, square);
  std::vector<double> ab_squares = times(p.a, p.rows, p.depth, b_squares, square);
  std::vector<double> c_squares = times(p.c, p.rows, p.cols, ones, square);
  double bias_squares = 0;
  for (float x : p.bias) bias_squares += double{x} * double{x};
  std::vector<Reduction> rows(p.rows);
  for (std::size_t i = 0; i < p.rows; ++i) {
    rows[i].length = static_cast<double>(p.depth + (p.bias.empty() ? 0 : 1));
    rows[i].sum = std::sqrt(c_squares[i]);
    rows[i].squares = ab_squares[i] + bias_squares;
    rows[i].magnitude = std::sqrt(rows[i].squares * rows[i].length * static_cast<double>(p.cols));
  }
  return rows;
}

Verdict no_nan(const Product& p, const Where& where) {
  std::atomic<std::size_t> wrong{0}, first{p.c.size()};
  parallel_for(p.c.size(), [&](std::size_t from, std::size_t to) {
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
  const std::vector<Reduction> rows = rows_of(p);

  CloseTally all(p.rows * static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> r(p.cols);
    double bias = 0;
    for (std::size_t j = 0; j < p.cols; ++j) {
      r[j] = entry(random_bits(seed, static_cast<std::uint64_t>(round)), j);
      if (!p.bias.empty()) bias += double{p.bias[j]} * r[j];
    }
    const std::vector<double> expected = times(p.a, p.rows, p.depth, times(p.b, p.depth, p.cols, r, itself), itself);
    const std::vector<double> got = times(p.c, p.rows, p.cols, r, itself);
    for (std::size_t i = 0; i < p.rows; ++i) {
      Expected e = tolerance.of(rows[i]);
      e.value = expected[i] + bias;
      e.deviation *= std::sqrt(kMeanSquare);
      e.worst *= kLargest;
      e.magnitude *= kLargest;
      all.add(static_cast<std::size_t>(round) * p.rows + i, got[i], e);
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
