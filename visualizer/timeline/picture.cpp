#include "timeline/picture.hpp"

#include <algorithm>
#include <cmath>

#include "timeline/store/levels.hpp"

namespace ridge::viz::timeline {
namespace {

constexpr std::size_t kMostQueries = 5000;  // queries of a frame, which keep it below 8 ms
constexpr float kFinest = 2, kCoarsest = 64;

// Joins neighbours that look alike: no visible gap, one category, and equal busy shares.
bool join(Piece& a, const Piece& b) {
  if (a.y0 != b.y0 || a.count < 2 || b.count < 2 || a.category != b.category || b.x0 - a.x1 > 0.5F) return false;
  if (std::fabs(a.busy - b.busy) > 0.04F) return false;
  const float left = a.x1 - a.x0, right = b.x1 - b.x0;
  a.busy = (a.busy * left + b.busy * right) / (b.x1 - a.x0);
  a.x1 = b.x1;
  a.count += b.count;
  return true;
}

// False: there are too many pieces.
bool build(const EventStore& s, const std::vector<Band>& bands, const Window& w, float narrowest,
           std::vector<Piece>& pieces) {
  pieces.clear();
  std::size_t queries = 0;
  const double per_pixel = w.per_pixel();
  const Time bucket = std::max<Time>(1, static_cast<Time>(per_pixel * static_cast<double>(narrowest)));
  for (const Band& band : bands) {
    const Row& row = s.rows[band.row];
    std::uint32_t e = first_ending_after(s, row, w.from, row.first);
    // Events without a duration end where they begin; include those at the very start.
    while (e > row.first && s.begin[e - 1] >= w.from) --e;
    while (e < row.last && s.begin[e] < w.to) {
      if (++queries > 2 * kMostQueries || pieces.size() > kMostPieces) return false;
      Piece piece;
      piece.y0 = band.y0, piece.y1 = band.y1;
      piece.event = e, piece.category = s.category[e];
      const Time begin = std::max(s.begin[e], w.from), end = std::min(s.end(e), w.to);
      if (s.duration[e] >= bucket) {
        piece.x0 = w.x(begin), piece.x1 = std::max(w.x(end), piece.x0 + 1);
        pieces.push_back(piece);
        ++e;
        continue;
      }
      // Merges the events that begin in the same cell of a fixed grid, which keeps panning free of flicker; a last
      // event that is wide enough stays apart.
      const Time cell = begin / bucket - (begin % bucket < 0 ? 1 : 0), cell_end = (cell + 1) * bucket;
      const Summary sum = summarise(s, row, begin, cell_end, e);
      std::uint32_t next = std::max(sum.last, e + 1);
      if (next > e + 1 && s.duration[next - 1] >= bucket) --next;
      const Time to = std::max(s.end(next - 1), begin + 1);
      Time busy = sum.busy;
      if (next < sum.last) busy -= std::min(s.end(next), cell_end) - s.begin[next];
      if (s.end(next - 1) > cell_end) busy += s.end(next - 1) - cell_end;
      piece.count = next - e;
      piece.category = sum.category;
      piece.busy =
          static_cast<float>(std::clamp(static_cast<double>(busy) / static_cast<double>(to - begin), 0.0, 1.0));
      piece.x0 = w.x(begin), piece.x1 = std::max(w.x(std::min(to, w.to)), piece.x0 + 1);
      if (pieces.empty() || !join(pieces.back(), piece)) pieces.push_back(piece);
      e = next;
    }
  }
  return pieces.size() <= kMostPieces;
}

}  // namespace

void build_picture(const EventStore& s, const std::vector<Band>& bands, const Window& w, Picture& picture) {
  // The finest grid within the budget: a row takes one query for each event or each cell, whichever is less.
  std::vector<std::size_t> events;
  for (const Band& band : bands) {
    const Row& row = s.rows[band.row];
    events.push_back(first_beginning_after(s, row, w.to) - first_ending_after(s, row, w.from, row.first));
  }
  float narrowest = kFinest;
  const auto expected = [&] {
    std::size_t sum = 0;
    for (const std::size_t n : events) sum += std::min(n, static_cast<std::size_t>((w.x1 - w.x0) / narrowest) + 1);
    return sum;
  };
  while (expected() > kMostQueries && narrowest < kCoarsest) narrowest *= 2;
  while (!build(s, bands, w, narrowest, picture.pieces) && narrowest < kCoarsest) narrowest *= 2;
  picture.narrowest = narrowest;
  if (picture.pieces.size() > kMostPieces) picture.pieces.resize(kMostPieces);
}

}  // namespace ridge::viz::timeline
