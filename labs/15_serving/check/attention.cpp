#include "attention.hpp"

namespace ridge::lab::serving {

namespace {

struct Scores {
  std::vector<double> weight, deviation;  // shares; the deviation of a weight's relative error
};

Scores scores_of(const Bf16* q, const Tokens& t, const Sizes& s) {
  Scores r{std::vector<double>(t.length), std::vector<double>(t.length)};
  const SumTolerance tolerance = Tolerance{kTensorFp32}.of_length(static_cast<double>(s.d));
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t j = 0; j < t.length; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < s.d; ++c) {
      const double term = double{q[c]} * double{t.k[j][c]};
      sum += term, squares += term * term;
    }
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

void fill_bf16(std::span<Bf16> to, std::uint64_t seed) {
  constexpr std::size_t part = 1 << 14;
  parallel_for((to.size() + part - 1) / part,
               [&](std::size_t first, std::size_t last) {
                 std::vector<float> values(part);
                 for (std::size_t p = first; p < last; ++p) {
                   const std::size_t from = p * part, count = std::min(part, to.size() - from);
                   fill_normal(std::span(values).first(count), random_bits(seed, p));
                   for (std::size_t i = 0; i < count; ++i) to[from + i] = rounded(values[i]);
                 }
               },
               8);
}

void expected_row(const Bf16* q, const Tokens& t, const Sizes& s, Expected* e) {
  const Scores r = scores_of(q, t, s);
  std::vector<double> sum(s.d), magnitude(s.d), squares(s.d), inherited(s.d), most(s.d);
  for (std::size_t j = 0; j < t.length; ++j)
    for (std::size_t c = 0; c < s.d; ++c) {
      const double term = r.weight[j] * double{t.v[j][c]};
      sum[c] += term, magnitude[c] += std::fabs(term), squares[c] += term * term;
    }
  for (std::size_t j = 0; j < t.length; ++j)  // a weight's error moves v - o
    for (std::size_t c = 0; c < s.d; ++c) {
      const double off = r.weight[j] * r.deviation[j] * (double{t.v[j][c]} - sum[c]);
      inherited[c] += off * off, most[c] += std::fabs(off);
    }
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
