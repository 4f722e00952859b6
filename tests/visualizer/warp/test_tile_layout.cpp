// Places of elements under TMA's swizzles and in the fragments of wgmma: all of those that a kernel on the emulator
// finds, and the examples of lab 04's lesson.
#include <array>
#include <set>
#include <sstream>
#include <tuple>

#include "support/catch.hpp"
#include "support/run.hpp"
#include "warp/tile_layout.hpp"

using namespace ridge::viz;
using namespace ridge::test;

namespace {

// What layouts.cu prints.
const std::string& found() {
  static const std::string text = [] {
    Folder scratch;
    Run built = run({ridge_program(), "cc", "-arch=sm_90a", "-I", repository() + "/labs/04_tensor_core",
                     repository() + "/tests/visualizer/warp/layouts.cu", "-o", scratch / "layouts"},
                    {{"RIDGE_ROOT", repository()}}, 60);
    INFO(built.out);
    REQUIRE(built.code == 0);
    Run ran = run({scratch / "layouts"}, {}, 30);
    REQUIRE(ran.code == 0);
    return ran.out;
  }();
  return text;
}

// f(the line's numbers) for each line that begins with `kind`. Returns their number.
template <class F>
int for_lines(const std::string& kind, F f) {
  std::istringstream in(found());
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first != kind) continue;
    std::array<unsigned, 8> n{};
    for (unsigned& v : n) words >> v;
    f(n);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("TMA puts each element where the picture has it, under every swizzle") {
  std::set<std::tuple<unsigned, unsigned>> shapes;
  const int count = for_lines("tile", [&](const auto& n) {
    const TileShape t{24, n[1], 4, n[0]};
    INFO("swizzle " << n[0] << ", rows of " << n[1] << " bytes, row " << n[2] << ", column " << n[3]);
    REQUIRE(place_of(t, n[2], n[3]).after == n[4]);
    shapes.emplace(n[0], n[1]);
  });
  CHECK(shapes.size() == 13);
  CHECK(count == 24 * (4 + 8 + 16 + 32 + 4 + 8 + 4 + 8 + 16 + 4 + 8 + 16 + 32));
  CHECK(for_lines("refused", [](const auto& n) { CHECK(refusal({8, n[1], 2, n[0]}) != ""); }) == 3);
  for (const auto& [swizzle, bytes] : shapes) CHECK(refusal({8, bytes, 2, swizzle}).empty());
}

TEST_CASE("each accumulator is in the thread and the register that the picture names") {
  std::set<std::tuple<unsigned, unsigned>> all;
  for_lines("d", [&](const auto& n) {
    const RegisterPlace p = accumulator_place(n[0], n[1]);
    INFO("row " << n[0] << ", column " << n[1]);
    REQUIRE(std::tuple(p.warp, p.lane, p.index) == std::tuple(n[2], n[3], n[4]));
    all.emplace(n[0], n[1]);
  });
  CHECK(all.size() == 64 * 128);
}

TEST_CASE("each element of the left factor is in the register and the part of it that the picture names") {
  std::set<std::tuple<unsigned, unsigned, unsigned>> all;
  for_lines("a", [&](const auto& n) {
    const RegisterPlace p = left_place(n[1], n[2], n[0]);
    INFO("elements of " << n[0] << " bytes, row " << n[1] << ", column " << n[2]);
    REQUIRE(std::tuple(p.warp, p.lane, p.index, p.part) == std::tuple(n[3], n[4], n[5], n[6]));
    all.emplace(n[0], n[1], n[2]);
  });
  CHECK(all.size() == 64 * (32 + 16 + 8));
}

TEST_CASE("eight rows of 16 bytes take one wavefront where the swizzle fits the row") {
  const auto waves = [](unsigned bytes, unsigned swizzle) { return wavefronts_of({16, bytes, 2, swizzle}, 9, 0); };
  CHECK(waves(128, 0) == 8);
  CHECK(waves(64, 0) == 4);
  CHECK(waves(32, 0) == 2);
  CHECK(waves(16, 0) == 1);
  for (const unsigned width : {32u, 64u, 128u}) CHECK(waves(width, width) == 1);
  CHECK(waves(32, 64) == 1);
  CHECK(wavefronts_of({3, 128, 2, 0}, 1, 0) == 3);
}

TEST_CASE("the sentences have the lesson's numbers") {
  // Exercise 3 of lab 04: row 3, columns 40 to 47 lie at byte 480, in banks 24 to 27.
  const TileShape t{8, 128, 2, 128};
  CHECK(
      explain_place(t, 3, 40) ==
      "Row 3, column 40: 3 x 128 + 40 x 2 = byte 464. Bits 4 to 6 (5) XOR bits 7 to 9 (3) = 6, so the element lies at "
      "byte 480. Its bank is 24.");
  CHECK(place_of(t, 3, 47).bank() == 27);
  CHECK(explain_reads(t, 3, 40).find("1 wavefront. In the descriptor of wgmma, the stride is 1024 bytes and bits 62-63 "
                                     "are 1.") != std::string::npos);
  CHECK(explain_place({8, 32, 2, 32}, 5, 0).find("Bit 4 (0) XOR bit 7 (1) = 1") != std::string::npos);
  CHECK(explain_reads({8, 128, 2, 0}, 3, 40).find("8 wavefronts, where 1 would do. wgmma cannot read") !=
        std::string::npos);
}
