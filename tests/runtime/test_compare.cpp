// compare_close beyond tolerances: NaN, infinities, messages; compare_exact for other types than float.
#include <cmath>
#include <limits>
#include <vector>

#include "lab/compare.hpp"
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
  got[4] = kNaN;
  CHECK(has(close(got, expected), "never written"));
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
