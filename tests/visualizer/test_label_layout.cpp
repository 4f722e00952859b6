#include "roofline/label_layout.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

namespace {

const Box kPage{0, 0, 1000, 700};

void check_apart(const std::vector<Box>& boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    INFO("label " << i);
    CHECK(boxes[i].x0 >= kPage.x0);
    CHECK(boxes[i].y0 >= kPage.y0);
    CHECK(boxes[i].x1 <= kPage.x1);
    CHECK(boxes[i].y1 <= kPage.y1);
    for (std::size_t j = 0; j < i; ++j) CHECK(overlap_area(boxes[i], boxes[j]) == 0);
  }
}

}  // namespace

TEST_CASE("labels of points on one spot do not overlap") {
  const std::vector<LabelRequest> requests(6, {500, 350, 180, 50});
  const auto boxes = place_labels(requests, {{{488, 338, 512, 362}}, {}}, kPage, 20);
  REQUIRE(boxes.size() == 6);
  check_apart(boxes);
  for (const Box& box : boxes) CHECK(overlap_area(box, {488, 338, 512, 362}) == 0);
}

TEST_CASE("labels stay on the page in its corners") {
  check_apart(
      place_labels({{2, 2, 180, 50}, {998, 2, 180, 50}, {2, 698, 180, 50}, {998, 698, 180, 50}}, {}, kPage, 20));
}

TEST_CASE("a label keeps its size and goes no further than it must") {
  const auto box = place_labels({{500, 350, 180, 50}}, {}, kPage, 20).at(0);
  CHECK(box.x1 - box.x0 == Approx(180));
  CHECK(box.y1 - box.y0 == Approx(50));
  CHECK(overlap_area(box, {500 - 31, 350 - 31, 500 + 31, 350 + 31}) > 0);  // nearer than gap + 11
}

TEST_CASE("a label avoids a line where there is room beside it") {
  const Segment line{0, 700, 1000, 0};
  const auto box = place_labels({{500, 350, 180, 50}}, {{}, {line}}, kPage, 20).at(0);
  CHECK_FALSE(crosses(box, line));
}

TEST_CASE("a segment crosses a box only where it enters it") {
  const Box box{10, 10, 20, 20};
  CHECK(crosses(box, {0, 15, 30, 15}));
  CHECK(crosses(box, {12, 12, 14, 14}));
  CHECK_FALSE(crosses(box, {0, 5, 30, 5}));
  CHECK_FALSE(crosses(box, {0, 15, 9, 15}));
  CHECK_FALSE(crosses(box, {0, 18, 12, 30}));
}
