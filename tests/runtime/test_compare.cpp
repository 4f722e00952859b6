// compare_close beyond tolerances: NaN, infinities, messages; compare_exact for other types than float.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "checks/compare.hpp"
#include "checks/freivalds.hpp"
#include "checks/share.hpp"
#include "checks/wide.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

Verdict close(const std::vector<float>& got, const std::vector<double>& expected) {
  return compare_close<float>(
      got, [&](std::size_t i) { return within_ulps(expected[i], std::fabs(expected[i]), 2); },
      [](std::size_t i) { return "y[" + std::to_string(i) + "]"; });
}
bool has(const Verdict& v, const std::string& part) { return v.message.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("NaN matches NaN only, an infinity itself only") {
  CHECK(close({1, kNaN, 3}, {1, kNaN, 3}).ok);
  CHECK(!close({1, kNaN, 3}, {1, 2, 3}).ok);
  CHECK(!close({1, 2, 3}, {1, kNaN, 3}).ok);
  CHECK(!close({0}, {kNaN}).ok);
  CHECK(!close({kInf}, {kNaN}).ok);
  CHECK(!close({kNaN}, {kInf}).ok);
  CHECK(close({kInf, -kInf}, {kInf, -kInf}).ok);
  CHECK(!close({kInf}, {-kInf}).ok);
  CHECK(!close({kInf}, {3e38}).ok);
  CHECK(!close({3e38f}, {kInf}).ok);
  CHECK(!close(std::vector<float>(1000, kNaN), std::vector<double>(1000, 1)).ok);
}

TEST_CASE("compare_close names the first wrong element, on any number of cores") {
  constexpr std::size_t n = 1'500'001;
  std::vector<float> got(n, 1.5f);
  std::vector<double> expected(n, 1.5);
  CHECK(close(got, expected).ok);
  CHECK(close({}, {}).ok);
  for (std::size_t i : {n - 1, n / 2 + 9}) got[i] = 1.6f;
  Verdict v = close(got, expected);
  CHECK(!v.ok);
  CHECK(has(v, "y[750009] (index 750009): expected 1.5, got 1.6"));
  CHECK(has(v, "2 of 1500001 are wrong"));
  got[4] = kNaN;  // as an x86 makes it
  CHECK(has(close(got, expected), "arithmetic made it"));
}

TEST_CASE("a NaN says where it comes from") {
  const auto told = [](std::uint32_t bits) {
    const std::vector<float> got = {1, std::bit_cast<float>(bits)};
    return close(got, std::vector<double>{1, 1}).message;
  };
  const std::string output = "the judge's fill of outputs", workspace = "the judge's fill of the workspace";
  for (std::uint32_t bits : {0x7FF9'7FF8u, 0xFFF9'FFFFu, 0x7FFF'7FF8u, 0x7FF8'0000u /* a bf16 */})
    CHECK(told(bits).find(output) != std::string::npos);
  for (std::uint32_t bits : {0x7FF1'7FF3u, 0xFFF6'FFF0u, 0x7FF7'0000u})
    CHECK(told(bits).find(workspace) != std::string::npos);
  for (std::uint32_t bits : {0xFFFF'FFFFu, 0xFFFF'0000u})
    CHECK(told(bits).find("as new memory holds it") != std::string::npos);
  CHECK(told(0xFFFE'FEFEu).find("from a value that is undefined") != std::string::npos);
  // A GPU computes these two, whatever they came from; the third is nobody's.
  for (std::uint32_t bits : {0x7FFF'FFFFu, 0x7FFF'0000u, 0x7FA0'1234u})
    CHECK(told(bits).find("never written, or computed") != std::string::npos);
}

TEST_CASE("what all wrong elements have in common is said") {
  std::vector<double> expected(3000);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = std::sin(static_cast<double>(i) + 1);
  const auto scaled = [&](double factor) {
    std::vector<float> got(expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = static_cast<float>(factor * expected[i]);
    return got;
  };
  CHECK(has(close(scaled(3), expected), "; each wrong element is 3 times the expected one"));
  CHECK(has(close(scaled(-1), expected), "is -1 times the expected one"));
  CHECK(has(close(scaled(0.125), expected), "is 0.125 times the expected one"));
  CHECK(has(close(scaled(0), expected), "; all wrong elements are 0"));
  CHECK_FALSE(has(close(scaled(1.001), expected), "times the expected one"));  // a lower precision, perhaps
  std::vector<float> mixed = scaled(2);
  mixed[7] = 0.5f;
  CHECK_FALSE(has(close(mixed, expected), "the expected one"));
  mixed = scaled(2);
  mixed[2000] = kNaN;
  CHECK_FALSE(has(close(mixed, expected), "the expected one"));
  mixed = scaled(1);
  for (std::size_t i = 1; i < mixed.size(); i += 64) mixed[i] *= 2;  // the right ones do not matter
  CHECK(has(close(mixed, expected), "; each wrong element is 2 times the expected one"));
  CHECK_FALSE(has(close({2, 4}, {1, 2}), "the expected one"));  // too few to say
}

TEST_CASE("a lower precision is suggested where all elements are near, and not for a few that are off") {
  std::vector<double> expected(3000);
  std::vector<float> low(3000), tail(3000);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = std::sin(static_cast<double>(i) + 1);
    tail[i] = static_cast<float>(expected[i]);
    low[i] = static_cast<float>(expected[i] * (i % 2 == 0 ? 1.002 : 0.998));
  }
  CHECK(has(close(low, expected), "was a lower precision used?"));
  for (std::size_t i = 2990; i < tail.size(); ++i) tail[i] *= 1.01F;  // a term is missing at the end
  CHECK(has(close(tail, expected), "the error is "));
  CHECK_FALSE(has(close(tail, expected), "lower precision"));
  low[5] = 3;
  CHECK_FALSE(has(close(low, expected), "lower precision"));
}

TEST_CASE("values near the right ones are told from right ones") {
  std::vector<double> expected(5000);
  std::vector<float> exact(5000), low(5000), doubled(5000);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = std::sin(static_cast<double>(i) + 1);
    exact[i] = static_cast<float>(expected[i]);
    low[i] = exact[i] * (1 + 0x1p-19f);  // a relative error of 32 roundings
    doubled[i] = exact[i] + static_cast<float>(i == 99) * 1e-6f;
  }
  CHECK(close(exact, expected).ok);
  CHECK(!close(low, expected).ok);
  CHECK(has(close(doubled, expected), "y[99]"));
}

TEST_CASE("elements that are compared together count as single ones do") {
  Expecteds e;
  std::vector<double> got(kTogether);
  for (std::size_t k = 0; k < kTogether; ++k) {
    e.set(k, within_ulps(static_cast<double>(k) - 100, 50, 2));
    got[k] = e.value[k] + 1e-6 * std::sin(static_cast<double>(k));
  }
  const auto same = [&] {
    CloseTally together(kTogether), single(kTogether);
    together.add(0, got, e);
    for (std::size_t k = 0; k < kTogether; ++k) single.add(k, got[k], e[k]);
    const Where where = [](std::size_t i) { return std::to_string(i); };
    CHECK(together.seen() == kTogether);
    CHECK(together.first() == single.first());
    CHECK(together.message(where) == single.message(where));
    return together.ok();
  };
  CHECK(same());
  e.value[7] = got[7] = std::numeric_limits<double>::infinity();
  e.value[8] = got[8] = std::numeric_limits<double>::quiet_NaN();
  e.deviation[9] = 0, got[9] = e.value[9];
  CHECK(same());
  for (std::size_t k = 20; k < 250; ++k) got[k] = e.value[k] * (1 + 8e-8);  // near, but all too far away from zero
  CHECK_FALSE(same());
  got[30] = std::numeric_limits<double>::infinity();
  CHECK_FALSE(same());
}

TEST_CASE("a check that leaves out an element is told so") {
  const std::vector<int> got(10);
  const auto all_but = [&](std::size_t left_out) {
    return compare_parts<ExactTally<int>>(
        got.size(), 1, 1,
        [&](std::size_t, std::size_t, ExactTally<int>& tally) {
          tally.add(0, std::span<const int>(got).first(got.size() - left_out), got.data());
        },
        [](std::size_t) { return std::string(); });
  };
  CHECK(all_but(0).ok);
  CHECK_THROWS_AS(all_but(1), std::logic_error);
}

TEST_CASE("exp_not_positive is exp") {
  double worst = 0;
  for (int i = 0; i <= 2'000'000; ++i) {
    const double x = -700.0 * i / 2'000'000, exact = std::exp(x);
    worst = std::max(worst, std::fabs(exp_not_positive(x) - exact) / exact);
  }
  CHECK(worst < 1e-15);
  CHECK(exp_not_positive(0) == 1);
  CHECK(exp_not_positive(-701) == 0);
  CHECK(exp_not_positive(-std::numeric_limits<double>::infinity()) == 0);
}

TEST_CASE("products of a matrix with eight vectors, both ways") {
  for (const auto& [rows, cols] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {7, 130}, {300, 33}}) {
    std::vector<float> m(rows * cols);
    fill_normal(m, rows);
    const auto vector = [](std::size_t n) {
      std::vector<Eight> x(n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t lane = 0; lane < 8; ++lane) x[i].x[lane] = freivalds_entry(lane, i);
      return x;
    };
    const auto x = vector(cols), y = vector(rows);
    const Products p = times(matrix_of(m, rows, cols), x, std::vector<double>(cols, 2));
    const Products t = times_transposed(matrix_of(m, rows, cols), y, std::vector<double>(rows, 3));
    bool right = true;
    for (std::size_t lane = 0; lane < 8; ++lane) {
      std::vector<double> down(cols), down_squares(cols);
      for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0, squares = 0;
        for (std::size_t j = 0; j < cols; ++j) {
          const double v = m[i * cols + j];
          sum += v * x[j].x[lane], squares += 2 * v * v;
          down[j] += v * y[i].x[lane], down_squares[j] += 3 * v * v;
        }
        right = right && std::fabs(p.of[i].x[lane] - sum) < 1e-10 && std::fabs(p.squares[i] - squares) < 1e-10;
      }
      for (std::size_t j = 0; j < cols; ++j)
        right =
            right && std::fabs(t.of[j].x[lane] - down[j]) < 1e-10 && std::fabs(t.squares[j] - down_squares[j]) < 1e-10;
    }
    CHECK(right);
  }
}

TEST_CASE("elements at the end that were never written have a cause of their own") {
  const float unwritten = std::bit_cast<float>(0x7FF1'7FF3u);
  std::vector<float> got(100, 1.5f);
  const std::vector<double> expected(100, 1.5);
  got[98] = got[99] = unwritten;
  Verdict v = close(got, expected);
  CHECK(v.cause == ridge::Cause::unwritten_tail);
  CHECK(has(v, "2 of 100 are wrong, the last ones"));
  const auto exact = [&] {
    return compare_exact<float>(
        got, [](std::size_t) { return 1.5f; }, [](std::size_t i) { return std::to_string(i); });
  };
  CHECK(exact().cause == ridge::Cause::unwritten_tail);
  std::fill(got.begin() + 1, got.end(), unwritten);
  CHECK(exact().cause == ridge::Cause::not_a_number);  // all but the first are no tail
  std::fill(got.begin() + 1, got.end(), 1.5f);
  got[98] = got[99] = unwritten;
  got[97] = got[98], got[98] = 1.5f;
  CHECK(close(got, expected).cause == ridge::Cause::not_a_number);
  CHECK_FALSE(has(close(got, expected), "the last"));
  CHECK(exact().cause == ridge::Cause::not_a_number);
  std::fill(got.begin(), got.end(), unwritten);  // all
  CHECK(close(got, expected).cause == ridge::Cause::not_a_number);
}

TEST_CASE("compare_exact takes any type without pointers") {
  const auto name = [](std::size_t i) { return "out[" + std::to_string(i) + "]"; };
  std::vector<std::int32_t> got = {1, 2, 3};
  CHECK(compare_exact<std::int32_t>(
            got, [](std::size_t i) { return static_cast<std::int32_t>(i + 1); }, name)
            .ok);
  Verdict v = compare_exact<std::int32_t>(
      got, [](std::size_t) { return 1; }, name);
  CHECK(has(v, "out[1] (index 1): expected 1, got 2; 2 of 3 are wrong"));
  struct Pair {
    std::int32_t a, b;
  };
  std::vector<Pair> pairs = {{1, 2}, {3, 4}};
  CHECK(compare_exact<Pair>(
            pairs, [&](std::size_t i) { return pairs[i]; }, name)
            .ok);
  v = compare_exact<Pair>(
      pairs,
      [](std::size_t) {
        return Pair{1, 2};
      },
      name);
  CHECK(has(v, "out[1]"));
}

TEST_CASE("compare_unordered ignores order, and nothing else") {
  const auto name = [](std::size_t i) { return "element " + std::to_string(i); };
  const std::vector<std::int32_t> expected = {5, 1, 5, 2};
  auto ok = [&](std::vector<std::int32_t> got) { return compare_unordered<std::int32_t>(got, expected, name).ok; };
  CHECK(ok({1, 2, 5, 5}));
  CHECK(!ok({1, 2, 2, 5}));
  CHECK(!ok({1, 2, 5, 6}));
}

namespace {
Verdict exact(const std::vector<float>& got, std::size_t& asked) {
  std::atomic<std::size_t> count{0};
  const Verdict v = compare_exact<float>(
      got,
      [&](std::size_t) {
        ++count;
        return 1.5f;
      },
      [](std::size_t i) { return std::to_string(i); });
  asked = count;
  return v;
}
}  // namespace

TEST_CASE("of a share, blocks are compared that the seed draws, and afterwards all again") {
  constexpr std::size_t n = 20'000'003;
  std::vector<float> got(n, 1.5f);
  std::size_t asked = 0;
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const ComparedShare share(8, seed);
    CHECK(exact(got, asked).ok);
    CHECK(asked > n / 16);
    CHECK(asked < n / 4);
    std::fill(got.begin() + n / 3, got.begin() + n / 3 + n / 50, 1.6f);  // a fiftieth is wrong
    found += exact(got, asked).ok ? 0 : 1;
    std::fill(got.begin(), got.end(), 1.5f);
  }
  CHECK(found >= 3);  // about 24 of 1221 blocks: one in 25 draws misses them
  got[n / 2] = 1.6f;
  CHECK(!exact(got, asked).ok);
  CHECK(asked == n);
}

TEST_CASE("of a share, an answer of few blocks is compared whole") {
  const ComparedShare share(8, 3);
  std::vector<float> got(700'001, 1.5f);
  std::size_t asked = 0;
  got[123'456] = 1.6f;
  CHECK(!exact(got, asked).ok);
  CHECK(asked == got.size());
}

TEST_CASE("of a share, a product's rows are compared in blocks, and a wrong thirtieth of them is found") {
  constexpr std::size_t m = 2048, k = 24, n = 40;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  fill_normal(a, 1);
  fill_normal(b, 2);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum += double{a[i * k + l]} * double{b[l * n + j]};
      c[i * n + j] = static_cast<float>(sum);
    }
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const ComparedShare share(8, seed);
    CHECK(freivalds({a, b, c, {}, m, n, k}, {}, kFreivaldsRounds, seed).ok);
    std::vector<float> wrong = c;
    for (std::size_t i = 0; i < m; i += 30) wrong[i * n + i % n] += 3;
    found += freivalds({a, b, wrong, {}, m, n, k}, {}, kFreivaldsRounds, seed).ok ? 0 : 1;
  }
  CHECK(found == 4);
}

TEST_CASE("of a share, parts that need each other are compared whole") {
  constexpr std::size_t parts = 10'000;
  const ComparedShare share(8, 5);
  std::atomic<std::size_t> seen{0};
  const std::vector<float> got(parts, 2), expected(parts, 2);
  const auto body = [&](std::size_t from, std::size_t to, ExactTally<float>& tally) {
    seen += to - from;
    tally.add(from, std::span(got).subspan(from, to - from), expected.data() + from);
  };
  CHECK(compare_parts<ExactTally<float>>(parts, parts, 16, body, [](std::size_t) { return ""; }).ok);
  CHECK(seen == parts);
  seen = 0;
  CHECK(compare_parts<ExactTally<float>>(
            parts, parts, 16, body, [](std::size_t) { return ""; }, Extent::share)
            .ok);
  CHECK(seen < parts / 4);
}
