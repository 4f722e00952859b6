// What a lab's check.cpp stands on: seeded inputs, comparison bit for bit, work spread over the cores.
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "checks/compare.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

namespace {

std::vector<float> normal(std::size_t n, std::uint64_t seed) {
  std::vector<float> v(n);
  fill_normal(v, seed);
  return v;
}

Verdict compare(const std::vector<float>& got, const std::vector<float>& expected) {
  return compare_exact<float>(
      got, [&](std::size_t i) { return expected[i]; }, [](std::size_t i) { return "x[" + std::to_string(i) + "]"; });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr std::size_t kMany = 2'000'003;  // enough for several threads

}  // namespace

TEST_CASE("fill_normal follows its seed only") {
  auto a = normal(kMany, 7);
  CHECK(a == normal(kMany, 7));
  CHECK(std::vector<float>(a.begin(), a.begin() + 100) == normal(100, 7));  // however the work was split
  auto b = normal(kMany, 8);
  std::size_t equal = 0, repeated = 0;
  for (std::size_t i = 0; i < kMany; ++i) equal += a[i] == b[i];
  for (std::size_t i = 1; i < kMany; ++i) repeated += a[i] == a[i - 1];
  CHECK(equal < kMany / 1000);
  CHECK(repeated < kMany / 1000);
}

TEST_CASE("fill_normal has mean 0 and standard deviation 1") {
  double sum = 0, squares = 0, largest = 0;
  for (float x : normal(kMany, 42)) {
    sum += x;
    squares += double{x} * x;
    largest = std::max(largest, std::fabs(double{x}));
  }
  const double n = kMany;
  CHECK(std::fabs(sum / n) < 5 / std::sqrt(n));  // five standard errors
  CHECK(std::sqrt(squares / n) == Approx(1).epsilon(0.005));
  CHECK(largest > 3);
  CHECK(largest < 4);
}

TEST_CASE("compare_exact names the first wrong element and counts them") {
  auto expected = normal(kMany, 1);
  auto got = expected;
  CHECK(compare(got, expected).ok);
  CHECK(compare({}, {}).ok);
  // The first wrong element is not in the first thread's part.
  for (std::size_t i : {kMany - 1, kMany - 2, kMany / 2 + 5}) got[i] += 1;
  Verdict v = compare(got, expected);
  CHECK(!v.ok);
  CHECK(has(v.message, "x[1000006] (index 1000006)"));
  CHECK(has(v.message, "3 of 2000003 are wrong"));
  got[0] = 17;
  expected[0] = -2.5f;
  v = compare(got, expected);
  CHECK(has(v.message, "x[0] (index 0): expected -2.5, got 17"));
  CHECK(has(v.message, "4 of 2000003"));
}

TEST_CASE("compare_exact compares bits") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(has(compare({1, nan}, {1, 2}).message, "NaN"));
  CHECK(!compare({1, nan}, {1, 2}).ok);
  CHECK(!compare({0.0f}, {-0.0f}).ok);
  CHECK(compare({-0.0f}, {-0.0f}).ok);
  CHECK(compare({nan}, {nan}).ok);
  CHECK(!compare({1.0f}, {std::nextafter(1.0f, 2.0f)}).ok);
}

TEST_CASE("parallel_for covers every index once") {
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1 << 18}, kMany}) {
    std::vector<std::atomic<unsigned char>> visits(n);
    std::atomic<bool> inside{true};
    parallel_for(n, [&](std::size_t from, std::size_t to) {
      if (from > to || to > n) inside = false;
      for (std::size_t i = from; i < to; ++i) ++visits[i];
    });
    CHECK(inside);
    std::size_t once = 0;
    for (const auto& v : visits) once += v == 1;
    CHECK(once == n);
  }
}
