#include "checks/variants.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

TEST_CASE("a wrong answer is named after the mistake that gives all of its elements") {
  const std::vector<double> right = {1, 2, 3, 4}, got = {1, 4, 9, 16};
  const std::vector<Variant> mistakes = {{"doubled", [&](std::size_t i) { return 2 * right[i]; }},
                                         {"squared", [&](std::size_t i) { return right[i] * right[i]; }}};
  Verdict v{false, "4 of 4 are wrong"};
  auto told = [&](const std::vector<double>& answer, std::size_t total) {
    Verdict w = v;
    tell_variant(
        w, total, [&](std::size_t i) { return answer[i]; }, mistakes, 1e-3);
    return w.message;
  };
  CHECK(told(got, 4) == "4 of 4 are wrong; squared");
  CHECK(told({1, 4, 9, 16.5}, 4) == v.message);  // one element is of another mistake
  CHECK(told(got, kMostVaried + 1) == v.message);
  v = {};
  CHECK(told(got, 4).empty());  // a right answer has no mistake
}

TEST_CASE("an infinity is only itself, and a NaN any NaN") {
  const std::vector<double> mistake = {INFINITY, NAN, 1};
  auto told = [&](const std::vector<double>& answer) {
    Verdict v{false, "wrong"};
    return tell_variant(
        v, 3, [&](std::size_t i) { return answer[i]; }, {{"overflowed", [&](std::size_t i) { return mistake[i]; }}},
        1e-3);
  };
  CHECK(told({INFINITY, NAN, 1}));
  CHECK_FALSE(told({1e30, NAN, 1}));
  CHECK_FALSE(told({-INFINITY, NAN, 1}));
  CHECK_FALSE(told({INFINITY, 0, 1}));
  CHECK_FALSE(told({INFINITY, NAN, NAN}));
}
