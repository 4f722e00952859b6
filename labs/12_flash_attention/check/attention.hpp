// Attention in double precision, row by row, and how far honest answers in a given precision may be from it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"

namespace ridge::lab::flash_attention {

struct Sizes {
  std::size_t batch, heads, kv_heads, queries, keys, d;
  bool causal;
  std::size_t q_rows() const { return batch * heads * queries; }
  std::size_t k_rows() const { return batch * kv_heads * keys; }
  std::size_t group() const { return heads / kv_heads; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(d)); }
  // How many keys query i of a head sees: the first ones.
  std::size_t seen(std::size_t i) const {
    if (!causal) return keys;
    return i + keys + 1 > queries ? std::min(keys, i + keys + 1 - queries) : 0;
  }
  // The first query that sees key j.
  std::size_t first_query(std::size_t j) const {
    if (!causal) return 0;
    return j + queries > keys ? j + queries - keys : 0;
  }
  // Row of k and v, for row `row` of q and its key 0.
  std::size_t k_row(std::size_t row) const {
    const std::size_t head = row / queries;  // of all batches
    return (head / heads * kv_heads + head % heads / group()) * keys;
  }
  // Pairs of a query and a key that it sees, in all heads.
  double pairs() const {
    double n = 0;
    for (std::size_t i = 0; i < queries; ++i) n += static_cast<double>(seen(i));
    return n * static_cast<double>(batch * heads);
  }
};

// The precisions of a task.
struct Rounding {
  Precision sums, factors, out;  // of products, of exp(s - maximum) and ds as factors, of the stored tensors
};
inline constexpr Rounding kInFp32{kFp32, kFp64, kFp32}, kInBf16{kTensorFp32, kBf16, kBf16};

template <class T>
struct Tensors {
  Sizes s;
  Rounding r;
  std::span<const T> q, k, v;
};

// What one query does with the keys that it sees.
struct Row {
  std::vector<double> s, deviation, weight;  // scores, the deviation of exp(score)'s relative error, shares
  double top = -std::numeric_limits<double>::infinity(), lse = top;
};

template <class T>
double dot(const T* a, const T* b, std::size_t n) {
  double sum = 0;
  for (std::size_t c = 0; c < n; ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

// The deviation of a computed dot product of `n` terms.
template <class T>
double dot_deviation(const T* a, const T* b, std::size_t n, double sum, const Precision& p) {
  double squares = 0;
  for (std::size_t c = 0; c < n; ++c) squares += double{a[c]} * double{b[c]} * double{a[c]} * double{b[c]};
  return Tolerance{p}.of_length(static_cast<double>(n)).of(sum, 0, squares).deviation;
}

// Weights and lse of scores that are there. exp(s - top) is made as 2^x: products with log2(e), a difference of numbers
// as large as s and top, and the function.
inline void finish(Row& r) {
  r.deviation.resize(r.s.size()), r.weight.resize(r.s.size());
  for (double s : r.s) r.top = std::max(r.top, s);
  if (std::isinf(r.top)) return;  // no key: all weights are 0
  double total = 0;
  for (std::size_t j = 0; j < r.s.size(); ++j) total += r.weight[j] = std::exp(r.s[j] - r.top);
  r.lse = r.top + std::log(total);
  for (std::size_t j = 0; j < r.s.size(); ++j) {
    r.weight[j] /= total;
    if (r.weight[j] > 0) r.deviation[j] += kFp32.unit() * (4 + 2 * (std::fabs(r.s[j]) + std::fabs(r.top)));
  }
}

template <class T>
Row row_of(const Tensors<T>& t, std::size_t row) {
  const std::size_t seen = t.s.seen(row % t.s.queries), d = t.s.d;
  const T *q = t.q.data() + row * d, *k = t.k.data() + t.s.k_row(row) * d;
  Row r;
  r.s.resize(seen), r.deviation.resize(seen);
  for (std::size_t j = 0; j < seen; ++j) {
    const double sum = dot(q, k + j * d, d);
    r.s[j] = sum * t.s.scale();
    r.deviation[j] = dot_deviation(q, k + j * d, d, sum, t.r.sums) * t.s.scale();
  }
  finish(r);
  return r;
}

inline Expected expected_lse(const Row& r) {
  if (std::isinf(r.top)) return {r.lse, 0, 0, 0};
  double inherited = 0;
  for (std::size_t j = 0; j < r.s.size(); ++j) inherited += r.weight[j] * r.deviation[j];
  const double n = static_cast<double>(r.s.size());
  const double deviation = inherited + kFp32.unit() * (4 + std::sqrt(n) + 3 * (std::fabs(r.lse) + std::fabs(r.top)));
  return {r.lse, deviation, 40 * deviation, std::fabs(r.lse) + std::fabs(r.top) + 1, true};
}

// Sums over j of weight[j] * rows[j][c] for all c, with the errors that they inherit: those of weight[j], independent
// of one another, have the deviation of[j], and move rows[j][c] - centre[c].
class WeightedSum {
 public:
  explicit WeightedSum(std::size_t d) : sum(d), magnitude_(d), squares_(d), inherited_(d), most_(d) {}
  template <class T>
  void add(double weight, const T* row) {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const double term = weight * double{row[c]};
      sum[c] += term, magnitude_[c] += std::fabs(term), squares_[c] += term * term;
    }
    length_ += 1;
  }
  template <class T>
  void inherit(double deviation, const T* row, const double* centre) {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const double off = deviation * (double{row[c]} - (centre != nullptr ? centre[c] : 0));
      inherited_[c] += off * off, most_[c] += std::fabs(off);
    }
  }
  // Times `scale`. `roundings`: of each factor, to the precision of factors.
  void expect(const Rounding& r, double scale, double roundings, Expected* e) const {
    const double u = r.factors.bits < 53 ? r.factors.unit() : 0;
    const SumTolerance tolerance = Tolerance{r.sums, kFp64, r.out}.of_length(2 * length_ + 4);
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const Expected own = tolerance.of(sum[c], magnitude_[c], squares_[c]);
      // What moves all weights of a row one way (the rounding of its maximum, say) adds up: a part of `most`.
      const double deviation =
          std::sqrt(own.deviation * own.deviation + inherited_[c] + roundings * u * u / 3 * squares_[c]) +
          0.25 * most_[c];
      e[c] = {scale * sum[c], scale * deviation, scale * (own.worst + 10 * most_[c] + roundings * u * magnitude_[c]),
              scale * magnitude_[c], true};
    }
  }
  std::vector<double> sum;

 private:
  std::vector<double> magnitude_, squares_, inherited_, most_;
  double length_ = 0;
};

// The d elements of o of a row.
template <class T>
void expected_out(const Tensors<T>& t, const Row& r, std::size_t row, Expected* e) {
  const T* v = t.v.data() + t.s.k_row(row) * t.s.d;
  WeightedSum sum(t.s.d);
  for (std::size_t j = 0; j < r.s.size(); ++j) sum.add(r.weight[j], v + j * t.s.d);
  for (std::size_t j = 0; j < r.s.size(); ++j) sum.inherit(r.weight[j] * r.deviation[j], v + j * t.s.d, sum.sum.data());
  sum.expect(t.r, 1, 1, e);
}

// ---- cases, fills and comparisons that the tasks share
// -----------------------------------------------------------------

// Rows whose answers are compared: all where they are few, else one at random of each 256th of them, or of each 512th
// where the judge compares all. In double precision 16 cores make 0.8e9 multiplications a second: all rows of a timed
// case would take a minute. `cost`: multiplications of a row.
inline std::vector<std::size_t> rows_to_compare(std::size_t rows, double cost, std::uint64_t seed) {
  std::vector<std::size_t> all;
  const bool few = static_cast<double>(rows) * cost <= 1e8;
  const std::size_t step = few ? 1 : std::max<std::size_t>(1, rows / (compares_all() ? 512 : 256));
  for (std::size_t first = 0; first < rows; first += step)
    all.push_back(std::min(rows - 1, first + (step == 1 ? 0 : random_bits(seed, first) % step)));
  return all;
}

// Compares `rows` of a tensor of d columns: make(row, expected) gives what its d elements should be.
template <class T, class Make>
Verdict compare_rows(const char* name, std::span<const T> got, std::size_t d, std::size_t head_rows,
                     const std::vector<std::size_t>& rows, std::size_t cost, Make make) {
  return compare_parts<CloseTally>(
      rows.size() * d, rows.size(), std::max<std::size_t>(1, (1 << 18) / std::max<std::size_t>(1, cost)),
      [&](std::size_t from, std::size_t to, CloseTally& tally) {
        std::vector<Expected> expected(d);
        for (std::size_t r = from; r < to; ++r) {
          make(rows[r], expected.data());
          for (std::size_t c = 0; c < d; ++c) tally.add(r * d + c, double{got[rows[r] * d + c]}, expected[c]);
        }
      },
      [&](std::size_t i) {
        const std::size_t row = rows[i / d];
        return d == 1 ? fmt::format("{}[head {}][{}]", name, row / head_rows, row % head_rows)
                      : fmt::format("{}[head {}][{}][{}]", name, row / head_rows, row % head_rows, i % d);
      },
      Extent::share);
}

// ---- bf16
// ----------------------------------------------------------------------------------------------------------------

// The members of Attention, as a case has them.
inline Sizes attention_of(const Case& c) {
  auto n = [&](std::size_t i) { return static_cast<std::size_t>(c.size[i]); };
  return {n(0), n(1), n(2), n(3), n(4), n(5), c.size[6] != 0};
}
inline Case attention_case(const std::array<std::int64_t, 7>& s, bool measured) {
  std::string name = fmt::format("batch {} heads {}/{} queries {} keys {} d {} {}", s[0], s[1], s[2], s[3], s[4], s[5],
                                 s[6] != 0 ? "causal" : "full");
  return {std::move(name), {s[0], s[1], s[2], s[3], s[4], s[5], s[6]}, measured};
}

// Some keys are large: the first one of a head, the last one, or one in the middle. Queries whose product with it is
// positive have nearly all their weight there, and exp(score) is too large for a float; for the others it is lost.
inline std::size_t large_key(std::size_t head, const Sizes& s) {
  return head % 3 == 0 ? 0 : head % 3 == 1 ? s.keys - 1 : s.keys / 2;
}
void enlarge_keys(std::span<float> k, const Sizes& s);
void enlarge_keys(std::span<Bf16> k, const Sizes& s);

std::uint64_t fresh_seed();

}  // namespace ridge::lab::flash_attention
