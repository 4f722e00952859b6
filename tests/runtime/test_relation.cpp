#include <cmath>
#include <random>

#include "checks/relation.hpp"
#include "support/catch.hpp"

using ridge::lab::Answered;
using ridge::lab::relation;

namespace {

// n random numbers; `got` names what the answer has in element i.
template <class Got>
std::vector<Answered> answer(std::size_t n, Got got, bool integers = false) {
  std::mt19937 words(7);
  auto random = [&] { return static_cast<double>(words()); };
  std::vector<double> right(n);
  for (double& x : right) x = integers ? random() : std::ldexp(random(), -32) - 0.5;
  std::vector<Answered> all;
  for (std::size_t i = 0; i < n; ++i) {
    const double g = got(right, i);
    all.push_back({right[i], g, g != right[i]});
  }
  return all;
}

const double k2to32 = 4294967296.0;

}  // namespace

TEST_CASE("relation: right numbers at wrong places") {
  const auto next = answer(101, [](const auto& r, std::size_t i) { return r[std::min<std::size_t>(i + 1, 100)]; });
  CHECK(relation(next, 0, 0) == "what element 1 should be stands in element 0");
  const auto row = answer(7 * 33, [](const auto& r, std::size_t i) { return i < 33 ? r[i] : r[i - 33]; });
  CHECK(relation(row, 33, 0) == "what row 0 should be stands in row 1");
  const auto turned = answer(13 * 13, [](const auto& r, std::size_t i) { return r[i % 13 * 13 + i / 13]; });
  CHECK(relation(turned, 13, 0) == "rows and columns are exchanged: the answer is transposed");
  const auto scattered = answer(16 * 9, [](const auto& r, std::size_t i) {
    return i < 36 ? r[i] : i / 9 % 2 == 0 ? r[i / 2 / 9 * 9 + i % 9] : 0.0;
  });
  CHECK(relation(scattered, 9, 0) == "what row 4 should be stands in row 8");
  const auto reversed = answer(99, [](const auto& r, std::size_t i) { return r[98 - i]; });
  CHECK(relation(reversed, 0, 0) == "the right numbers are all there, at wrong places");
}

TEST_CASE("relation: a factor or a difference that all wrong elements have in common") {
  const auto twice = answer(
      50, [](const auto& r, std::size_t i) { return i < 9 ? r[i] : std::fmod(2 * r[i], k2to32); }, true);
  CHECK(relation(twice, 0, k2to32) == "each wrong element is exactly 2 times the expected one, modulo 2^32");
  const auto less = answer(
      50, [](const auto& r, std::size_t i) { return i < 9 ? r[i] : std::fmod(r[i] + k2to32 - 721798510, k2to32); },
      true);
  CHECK(relation(less, 0, k2to32) == "all wrong elements are too small by the same 7.217985e+08");
  CHECK(relation({{2, 14, true}}, 0, 0) == "that is 7 times it");
  CHECK(relation({{8, -2, true}}, 0, 0) == "that is -1/4 of it");
  CHECK(relation({{2, 13, true}}, 0, 0).empty());     // no plain factor
  CHECK(relation({{2, 2.001, true}}, 0, 0).empty());  // a matter of precision
}

TEST_CASE("relation: nothing is said where there is nothing to see") {
  std::mt19937 words(8);
  auto random = [&] { return static_cast<double>(words()); };
  const auto noise = answer(100, [&](const auto&, std::size_t) { return std::ldexp(random(), -32); });
  CHECK(relation(noise, 10, 0).empty());
  const auto right = answer(100, [](const auto& r, std::size_t i) { return r[i]; });
  CHECK(relation(right, 10, 0).empty());
  auto nan = answer(100, [](const auto& r, std::size_t i) { return r[std::min<std::size_t>(i + 1, 99)]; });
  nan[50].got = std::nan("");
  CHECK(relation(nan, 0, 0).empty());
  // One number everywhere is at its right place wherever it stands.
  std::vector<Answered> same(40, {1, 1, false});
  same[3].wrong = same[4].wrong = same[5].wrong = true;
  CHECK(relation(same, 0, 0).empty());
}
