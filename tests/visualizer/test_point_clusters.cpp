#include <cmath>

#include "roofline/point_clusters.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

TEST_CASE("points at one place form one cluster, and others stay alone") {
  using Clusters = std::vector<std::vector<std::size_t>>;
  CHECK(clusters_of({}, 4).empty());
  CHECK(clusters_of({{10, 10}, {50, 50}, {12, 11}, {10, 10}}, 4) == Clusters{{0, 2, 3}, {1}});
  // No chain: the distance to the first counts.
  CHECK(clusters_of({{0, 0}, {3, 0}, {6, 0}}, 4) == Clusters{{0, 1}, {2}});
}

TEST_CASE("members share a circle: each has its part, and a click finds it") {
  const Pixel centre{100, 200};
  for (std::size_t count = 1; count <= 6; ++count)
    for (std::size_t i = 0; i < count; ++i) {
      const auto arc = arc_of(centre, 20, i, count, 3);
      REQUIRE(arc.size() > 2);
      for (std::size_t k = 1; k + 1 < arc.size(); ++k) {
        CHECK(std::hypot(arc[k].x - 100, arc[k].y - 200) == Approx(20).epsilon(1e-3));
        CHECK(member_at(centre, arc[k], count) == i);
      }
    }
  CHECK(arc_of(centre, 20, 0, 1, 3).front().x == Approx(arc_of(centre, 20, 0, 1, 3).back().x).margin(0.01));
}

TEST_CASE("boxes along a line leave no gap in it") {
  const auto boxes = boxes_along({{0, 0}, {100, 0}, {100, 60}}, 4);
  for (float x = 0; x <= 100; x += 1) {
    bool covered = false;
    for (const Box& b : boxes) covered = covered || (b.x0 <= x && x <= b.x1 && b.y0 <= 0 && 0 <= b.y1);
    CHECK(covered);
  }
}
