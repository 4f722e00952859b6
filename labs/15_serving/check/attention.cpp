#include "attention.hpp"

#include <random>

#include "checks/share.hpp"
#include "checks/wide.hpp"

namespace ridge::lab::serving {

namespace {

// Of products of two rows of d elements.
struct Products {
  double sum, squares;
};
RIDGE_WIDE Products products(const Bf16* a, const Bf16* b, std::size_t d) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
  for (std::size_t c = 0; c < d; ++c) {
    const double term = a[c].as_float() * b[c].as_float();  // exact in fp32
    sum += term, squares += term * term;
  }
  return {sum, squares};
}

// For each element of a row of v: sums of weight times it, of the magnitudes, of the squares.
RIDGE_WIDE void add_weighted(const Bf16* v, double weight, std::size_t d, double* sum, double* magnitude,
                             double* squares) {
#pragma omp simd
  for (std::size_t c = 0; c < d; ++c) {
    const double term = weight * v[c].as_float();
    sum[c] += term, magnitude[c] += std::fabs(term), squares[c] += term * term;
  }
}

// A weight's error moves v - o.
RIDGE_WIDE void add_inherited(const Bf16* v, double error, const double* o, std::size_t d, double* squares,
                              double* most) {
#pragma omp simd
  for (std::size_t c = 0; c < d; ++c) {
    const double off = error * (v[c].as_float() - o[c]);
    squares[c] += off * off, most[c] += std::fabs(off);
  }
}

struct Scores {
  std::vector<double> weight, deviation;  // shares; the deviation of a weight's relative error
};

Scores scores_of(const Bf16* q, const Tokens& t, const Sizes& s) {
  Scores r{std::vector<double>(t.length), std::vector<double>(t.length)};
  const SumTolerance tolerance = Tolerance{kTensorFp32}.of_length(static_cast<double>(s.d));
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t j = 0; j < t.length; ++j) {
    const auto [sum, squares] = products(q, t.k[j], s.d);
    r.weight[j] = sum * s.scale();
    r.deviation[j] = tolerance.of(sum, 0, squares).deviation * s.scale();
    top = std::max(top, r.weight[j]);
  }
  // exp(s - top) is made as 2^x: products with log2(e), a difference of numbers as large as s and top, the function.
  for (std::size_t j = 0; j < t.length; ++j) {
    r.deviation[j] += kFp32.unit() * (4 + 2 * (std::fabs(r.weight[j]) + std::fabs(top)));
    total += r.weight[j] = std::exp(r.weight[j] - top);
  }
  for (double& w : r.weight) w /= total;
  return r;
}

}  // namespace

std::vector<std::size_t> rows_to_compare(std::size_t rows, double cost) {
  constexpr double kMost = 4e7;
  std::size_t step = 1;
  if (!compares_all() && cost * static_cast<double>(rows) > kMost)
    step = std::max<std::size_t>(1, rows / std::max<std::size_t>(2, static_cast<std::size_t>(kMost / cost)));
  std::random_device device;
  const std::uint64_t seed = std::uint64_t{device()} << 32 | device();
  std::vector<std::size_t> all;
  for (std::size_t first = 0; first < rows; first += step)
    all.push_back(std::min(rows - 1, first + (step == 1 ? 0 : random_bits(seed, first) % step)));
  return all;
}

void expected_row(const Bf16* q, const Tokens& t, const Sizes& s, Expected* e) {
  const Scores r = scores_of(q, t, s);
  std::vector<double> sum(s.d), magnitude(s.d), squares(s.d), inherited(s.d), most(s.d);
  for (std::size_t j = 0; j < t.length; ++j)
    add_weighted(t.v[j], r.weight[j], s.d, sum.data(), magnitude.data(), squares.data());
  for (std::size_t j = 0; j < t.length; ++j)
    add_inherited(t.v[j], r.weight[j] * r.deviation[j], sum.data(), s.d, inherited.data(), most.data());
  // Weights are rounded to bf16 as factors. What moves all weights one way adds up: a part of `most`.
  const double u = kBf16.unit();
  const SumTolerance tolerance = Tolerance{kTensorFp32, kFp64, kBf16}.of_length(2 * static_cast<double>(t.length) + 4);
  for (std::size_t c = 0; c < s.d; ++c) {
    const Expected own = tolerance.of(sum[c], magnitude[c], squares[c]);
    const double deviation =
        std::sqrt(own.deviation * own.deviation + inherited[c] + u * u / 3 * squares[c]) + 0.25 * most[c];
    e[c] = {sum[c], deviation, own.worst + 10 * most[c] + u * magnitude[c], magnitude[c], true};
  }
}

double load_sectors(const Sizes& s, std::span<const std::size_t> lengths) {
  double sectors = 0;
  for (std::size_t length : lengths) {
    const double parts = static_cast<double>((length + 63) / 64);
    sectors += static_cast<double>(s.kv_heads * 2 * length) * s.row() +
               static_cast<double>(s.heads) * parts * (s.row() + s.part());
  }
  return sectors;
}

}  // namespace ridge::lab::serving
