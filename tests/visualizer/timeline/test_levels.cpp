// Level of detail: sums are exact at every zoom, bubbles stay, a frame is small.
#include <random>
#include <string>

#include "support/catch.hpp"
#include "timeline/picture.hpp"
#include "timeline/reader/loader.hpp"
#include "timeline/store/levels.hpp"

using namespace ridge::viz::timeline;

namespace {

EventStore random_store(std::uint32_t seed, int count, int lanes) {
  std::mt19937 random(seed);
  std::string text = "[";
  std::vector<long> now(static_cast<std::size_t>(lanes), 0);
  for (int i = 0; i < count; ++i) {
    const auto lane = random() % static_cast<unsigned>(lanes);
    long& t = now[lane];
    t += static_cast<long>(random() % 3) * static_cast<long>(random() % 50);
    const long duration = static_cast<long>(random() % 40);
    text += (i > 0 ? "," : "") + std::string("{\"ph\":\"X\",\"name\":\"k\",\"cat\":\"c") +
            std::to_string(random() % 5) + "\",\"tid\":" + std::to_string(lane) + ",\"ts\":" + std::to_string(t) +
            ",\"dur\":" + std::to_string(duration) + "}";
    t += duration;
  }
  return load_text(text + "]");
}

}  // namespace

TEST_CASE("a summary's busy time is the exact one, whatever is asked") {
  const auto s = random_store(11, 30000, 3);
  std::mt19937_64 random(5);
  for (const Row& row : s.rows) {
    if (row.first == row.last) continue;
    const Time first = s.begin[row.first], last = s.end(row.last - 1);
    for (int i = 0; i < 300; ++i) {
      const Time width =
          1 + static_cast<Time>(random() % static_cast<std::uint64_t>(i % 3 == 0 ? last - first : (last - first) / 50));
      const Time from = first - 1000 + static_cast<Time>(random() % static_cast<std::uint64_t>(last - first)),
                 to = from + width;
      Time busy = 0, by_category[5] = {};
      std::uint32_t touched = 0;
      for (std::uint32_t e = row.first; e < row.last; ++e) {
        const Time part = std::min(s.end(e), to) - std::max(s.begin[e], from);
        if (part <= 0) continue;
        busy += part;
        by_category[s.category[e]] += part;
        ++touched;
      }
      const Summary sum = summarise(s, row, from, to, row.first);
      REQUIRE(sum.busy == busy);
      CHECK(sum.last - sum.first >= touched);
      // Of few events the dominant category is exact; of many it is one of the large ones.
      if (touched > 0 && touched <= kLeaf)
        CHECK(by_category[sum.category] == *std::max_element(by_category, by_category + 5));
      if (busy > 0) CHECK(by_category[sum.category] * 10 >= busy);
    }
  }
}

TEST_CASE("pieces cover exactly what is busy, at every zoom, and are few") {
  const auto s = random_store(3, 60000, 40);
  std::vector<Band> bands;
  for (std::uint32_t r = 0; r < s.rows.size(); ++r)
    bands.push_back({r, 20.0F * static_cast<float>(r), 20.0F * static_cast<float>(r) + 18});
  for (const double part : {1.0, 0.3, 0.02, 0.0005}) {
    const Time width = std::max<Time>(1, static_cast<Time>(part * static_cast<double>(s.last - s.first)));
    const Window w{s.first, s.first + width, 0, 1600};
    Picture p;
    build_picture(s, bands, w, p);
    CHECK(p.pieces.size() <= kMostPieces);
    REQUIRE(!p.pieces.empty());
    double drawn = 0, busy = 0;
    std::uint64_t count = 0, expected = 0;
    for (const Piece& piece : p.pieces) {
      CHECK(piece.x0 <= piece.x1);
      count += piece.count;
      // One event fills its piece; its width is at least a pixel on the screen.
      const double exact = piece.count == 1
                               ? std::min(static_cast<double>(w.x(s.end(piece.event))), 1600.0) -
                                     std::max(static_cast<double>(piece.x0), 0.0)
                               : static_cast<double>(piece.busy) * static_cast<double>(piece.x1 - piece.x0);
      drawn += std::max(exact, 0.0);
    }
    for (const Band& b : bands)
      for (std::uint32_t e = s.rows[b.row].first; e < s.rows[b.row].last; ++e) {
        const bool inside = s.begin[e] < w.to && (s.end(e) > w.from || s.begin[e] >= w.from);
        expected += inside;
        busy += static_cast<double>(std::max<Time>(0, std::min(s.end(e), w.to) - std::max(s.begin[e], w.from))) /
                w.per_pixel();
      }
    CHECK(count >= expected);  // each is in a piece
    CHECK(drawn == Approx(busy).epsilon(0.02));
  }
}

TEST_CASE("a bubble of a few pixels stays open between many events") {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) {
    const int ts = i < 10000 ? i * 10 : i * 10 + 2000;  // 2 ms of 200 without anything
    text +=
        (i > 0 ? "," : "") + std::string("{\"ph\":\"X\",\"name\":\"k\",\"ts\":") + std::to_string(ts) + ",\"dur\":10}";
  }
  const auto s = load_text(text + "]");
  Picture p;
  build_picture(s, {{0, 0, 10}}, {s.first, s.last, 0, 1000}, p);
  float covered = 0;
  for (const Piece& piece : p.pieces) {
    CHECK(piece.busy > 0.99F);
    covered += piece.x1 - piece.x0;
    CHECK((piece.x1 <= 496 || piece.x0 >= 504));  // the bubble lies at 495 to 505
  }
  CHECK(covered == Approx(990).margin(3));
}
