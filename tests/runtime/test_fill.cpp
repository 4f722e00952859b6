// Inputs of the judge: both signs, no zeros, the promised magnitudes; sizes that fit no pattern.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "checks/fill.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

TEST_CASE("fill_uniform and fill_lognormal: both signs, never zero, never denormal") {
  std::vector<float> u(100'000), l(100'000);
  fill_uniform(u, 3, 0.5f, 1.0f);
  fill_lognormal(l, 3, 2);
  double sum = 0, logs = 0, squares = 0;
  std::size_t negative = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    CHECK_FALSE((std::fabs(u[i]) < 0.5f || std::fabs(u[i]) >= 1.0f));
    CHECK_FALSE(!std::isnormal(l[i]));
    sum += u[i];
    negative += l[i] < 0;
    logs += std::log(std::fabs(l[i]));
    squares += std::log(std::fabs(l[i])) * std::log(std::fabs(l[i]));
  }
  const auto n = static_cast<double>(u.size());
  CHECK(std::fabs(sum / n) < 5 * 0.77 / std::sqrt(n));
  CHECK(static_cast<double>(negative) / n == Approx(0.5).epsilon(0.02));
  CHECK(std::fabs(logs / n) < 0.05);
  CHECK(std::sqrt(squares / n) == Approx(2).epsilon(0.02));
}

TEST_CASE("fill_integers covers its range, ends included") {
  std::vector<std::int32_t> v(10'000);
  fill_integers(v, 1, -3, 4);
  CHECK(std::set<std::int32_t>(v.begin(), v.end()) == std::set<std::int32_t>{-3, -2, -1, 0, 1, 2, 3, 4});
  fill_integers(v, 1, INT32_MIN, INT32_MAX);
  CHECK(*std::min_element(v.begin(), v.end()) < -2'000'000'000);
  CHECK(*std::max_element(v.begin(), v.end()) > 2'000'000'000);
}

TEST_CASE("random_size stays in its range and away from multiples of 32") {
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::int64_t n = random_size(seed, 100, 400);
    CHECK_FALSE((n < 100 || n > 400));
    CHECK_FALSE((n % 32 < 2 || n % 32 > 30));
    seen.insert(n);
  }
  CHECK(seen.size() > 200);
  CHECK(random_size(1, 7, 7) == 7);
  CHECK(random_size(1, 64, 64) == 64);  // nothing else there
}
