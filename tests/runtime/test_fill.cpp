// Inputs of the judge: both signs, no zeros, the promised magnitudes; sizes that fit no pattern.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "checks/fill.hpp"
#include "checks/stream.hpp"
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

TEST_CASE("fill_normal: mean 0, variance 1, no zero, and neighbours that are unrelated") {
  std::vector<float> v(400'000);
  fill_normal(v, 11);
  double sum = 0, squares = 0, fourth = 0, neighbours = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double x = double{v[i]};
    CHECK_FALSE(x == 0);
    sum += x, squares += x * x, fourth += x * x * x * x;
    if (i > 0) neighbours += x * double{v[i - 1]};
  }
  const auto n = static_cast<double>(v.size());
  CHECK(std::fabs(sum) < 5 * std::sqrt(n));
  CHECK(std::fabs(neighbours) < 5 * std::sqrt(n));
  CHECK(squares / n == Approx(1).epsilon(0.01));
  CHECK(fourth / n == Approx(2.7).epsilon(0.01));  // of a sum of four uniform numbers
}

TEST_CASE("fill_normal of bf16: the numbers of fp32, scaled and rounded") {
  std::vector<float> v(700'001);  // more than a megabyte: past the caches
  std::vector<Bf16> w(v.size());
  fill_normal(v, 12);
  fill_normal(w, 12, 0.3f);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (w[i].bits == rounded(v[i] * 0.3f).bits) continue;
    FAIL("element " << i << " is " << w[i].as_float() << ", of " << v[i]);
  }
}

TEST_CASE("a part of a stream is what the whole has there, however large the whole is") {
  constexpr std::size_t n = 700'001;  // more than a megabyte: past the caches
  std::vector<float> normal(n), uniform(n), lognormal(n);
  std::vector<std::uint32_t> bits(n);
  fill_normal(normal, 5);
  fill_uniform(uniform, 5, 0.25f, 3);
  fill_lognormal(lognormal, 5, 1.5f);
  fill_bits(bits, 5);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{1023}, std::size_t{1024}, n - 3001})
    for (const std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{3000}}) {
      CAPTURE(first, count);
      std::vector<float> part(count);
      std::vector<std::uint32_t> words(count);
      fill_normal(part, 5, first);
      CHECK(std::equal(part.begin(), part.end(), &normal[first]));
      fill_uniform(part, 5, first, 0.25f, 3);
      CHECK(std::equal(part.begin(), part.end(), &uniform[first]));
      fill_lognormal(part, 5, first, 1.5f);
      CHECK(std::equal(part.begin(), part.end(), &lognormal[first]));
      fill_bits(words, 5, first);
      CHECK(std::equal(words.begin(), words.end(), &bits[first]));
    }
}

TEST_CASE("copy_past_caches copies, at any alignment, and touches nothing else") {
  std::vector<std::byte> from(1000), to(1000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 200, 513})
    for (const std::size_t at : {0, 1, 3, 16, 61})
      for (const std::size_t out_of : {0, 5}) {
        CAPTURE(bytes, at, out_of);
        std::fill(to.begin(), to.end(), std::byte{0});
        copy_past_caches(to.data() + at, from.data() + out_of, bytes);
        CHECK(std::equal(from.data() + out_of, from.data() + out_of + bytes, to.data() + at));
        CHECK(std::count(to.begin(), to.end(), std::byte{0}) >= static_cast<std::ptrdiff_t>(to.size() - bytes));
        CHECK(std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at),
                          [](std::byte b) { return b == std::byte{0}; }));
        CHECK(std::all_of(to.begin() + static_cast<std::ptrdiff_t>(at + bytes), to.end(),
                          [](std::byte b) { return b == std::byte{0}; }));
      }
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
