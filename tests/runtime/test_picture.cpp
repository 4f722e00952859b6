#include <fmt/format.h>

#include "checks/compare.hpp"
#include "checks/picture.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

namespace {

template <class Wrong>
std::vector<bool> marks(std::size_t n, Wrong wrong) {
  std::vector<bool> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = wrong(i);
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what wrong elements have in common") {
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i % 32 == 31; }), 0) ==
        "wrong: every 32nd element only, from 31 on");
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i >= 993; }), 0) == "wrong: the last 7 elements, from 993 on");
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i < 256; }), 0) == "wrong: the first 256 elements");
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i >= 256 && i < 512; }), 0) == "wrong: elements 256 to 511 only");
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i % 64 >= 32; }), 0) ==
        "wrong: of each 64 elements, number 32 to 63 only");
  CHECK(wrong_pattern(marks(999, [](auto i) { return i % 2 == 1; }), 0) == "wrong: every odd element only");
  CHECK(wrong_pattern(marks(999, [](auto) { return true; }), 0) == "all elements are wrong");
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i * i % 7 == 2; }), 0).empty());
  CHECK(wrong_pattern(marks(1000, [](auto i) { return i == 500; }), 0).empty());  // the message says which
  // Matrices: 33 rows of 65.
  CHECK(wrong_pattern(marks(33 * 65, [](auto i) { return i / 65 == 32; }), 65) == "wrong: row 32 only");
  CHECK(wrong_pattern(marks(33 * 65, [](auto i) { return i % 65 >= 64; }), 65) == "wrong: column 64 only");
  CHECK(wrong_pattern(marks(33 * 65, [](auto i) { return i % 65 >= 32; }), 65) == "wrong: columns 32 to 64 only");
  CHECK(wrong_pattern(marks(33 * 33, [](auto i) { return i / 33 != i % 33; }), 33) == "right: the diagonal only");
}

TEST_CASE("a map of wrong elements") {
  CHECK(wrong_map(marks(12, [](auto i) { return i % 4 == 3; }), 4) ==
        "3 rows x 4 columns (. right, # wrong):\n  ...#\n  ...#\n  ...#");
  const std::string large = wrong_map(marks(100 * 100, [](auto i) { return i / 100 >= 96 || i == 0; }), 100);
  CHECK(has(large, "100 rows x 100 columns, 7 x 3 a character (. right, # wrong, + some of them wrong):\n  +...."));
  CHECK(has(large, "\n  ++++"));
  CHECK(std::count(large.begin(), large.end(), '\n') == 15);
  CHECK(has(wrong_map(marks(1000, [](auto i) { return i >= 993; }), 0), "64 a line, 2 a character"));
}

TEST_CASE("the picture of a vector: neighbours of the first wrong element") {
  Picture p(100);
  for (std::size_t i = 0; i < 100; ++i)
    p.note(i, static_cast<double>(i) + 0.5, i == 99 ? -1 : static_cast<double>(i) + 0.5, i == 99);
  const std::string text = p.text([](std::size_t i) { return fmt::format("out[{}]", i); });
  CHECK(has(text, "element                  93        94"));
  CHECK(has(text, "      99 \n"));
  CHECK(has(text, "98.5      99.5 \n"));
  CHECK(has(text, "98.5        -1!"));
}

TEST_CASE("the picture of a matrix: rows and columns around the first wrong element") {
  std::vector<float> got(6 * 20, 1.f);
  got[3 * 20 + 19] = 7;
  const Verdict v = compare_exact<float>(
      got, [](std::size_t) { return 1.f; }, [](std::size_t i) { return fmt::format("out[{}][{}]", i / 20, i % 20); });
  REQUIRE(!v.ok);
  CHECK(has(v.picture, "column                   13"));
  CHECK(has(v.picture, "row 3    expected "));
  CHECK(has(v.picture, "1         7!\nrow 4"));
  CHECK(has(v.picture, "6 rows x 20 columns (. right, # wrong):"));
  CHECK(has(v.picture, "\n  ...................#\n"));
}

TEST_CASE("answers of other kinds have no picture") {
  std::vector<float> large(kMostPictured + 1, 1.f), good(10, 1.f), one(1, 2.f);
  auto where = [](std::size_t i) { return fmt::format("out[{}]", i); };
  auto expected = [](std::size_t) { return 1.f; };
  large[5] = 2;
  CHECK(!compare_exact<float>(large, expected, where).ok);
  CHECK(compare_exact<float>(large, expected, where).picture.empty());
  CHECK(compare_exact<float>(good, expected, where).picture.empty());
  CHECK(compare_exact<float>(one, expected, where).picture.empty());
  CloseTally sample(3);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 40})
    sample.add(i, 5, {.value = 1, .deviation = 1e-6, .worst = 1e-6, .magnitude = 1});
  CHECK(!sample.verdict(where).ok);
  CHECK(sample.verdict(where).picture.empty());
}
