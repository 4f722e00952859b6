#include "roofline/label_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace ridge::viz {
namespace {

constexpr int kDirections = 32;
constexpr int kRings = 14;
// Costs, in pixels of distance from the point.
constexpr float kCover = 1e5F;
constexpr float kCrossLine = 90;
constexpr float kCrossLeader = 300;  // a leader that crosses a label or another leader

Box box_towards(const LabelRequest& r, float angle, float distance) {
  const float dx = std::cos(angle), dy = std::sin(angle);
  // The centre of a box whose border, along this direction, is `distance` from the point.
  const float reach =
      std::min(r.width / 2 / std::max(std::abs(dx), 1e-3F), r.height / 2 / std::max(std::abs(dy), 1e-3F));
  const float cx = r.x + dx * (distance + reach), cy = r.y + dy * (distance + reach);
  return {cx - r.width / 2, cy - r.height / 2, cx + r.width / 2, cy + r.height / 2};
}

float area(const Box& b) { return (b.x1 - b.x0) * (b.y1 - b.y0); }

Segment leader(const LabelRequest& r, const Box& box) {
  return {r.x, r.y, std::clamp(r.x, box.x0, box.x1), std::clamp(r.y, box.y0, box.y1)};
}

}  // namespace

float overlap_area(const Box& a, const Box& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return w > 0 && h > 0 ? w * h : 0;
}

// Whether a part of the segment lies inside (Liang-Barsky).
bool crosses(const Box& box, const Segment& line) {
  float enter = 0, leave = 1;
  const auto clip = [&](float from, float delta, float low, float high) {
    if (delta == 0) return from >= low && from <= high;
    const float a = (low - from) / delta, b = (high - from) / delta;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
    return enter < leave;
  };
  return clip(line.x0, line.x1 - line.x0, box.x0, box.x1) && clip(line.y0, line.y1 - line.y0, box.y0, box.y1);
}

std::vector<Box> place_labels(const std::vector<LabelRequest>& requests, const Obstacles& obstacles, const Box& bounds,
                              float gap) {
  std::vector<Box> placed;
  std::vector<Segment> leaders;
  const auto cost_of = [&](const LabelRequest& request, const Box& box, float distance) {
    float covered = area(box) - overlap_area(box, bounds);  // the part outside the bounds counts as covered
    for (const Box& other : placed) covered += overlap_area(box, other);
    for (const Box& other : obstacles.boxes) covered += overlap_area(box, other);
    float cost = distance + (covered > 0.5F ? kCover + covered : 0);
    for (const Segment& line : obstacles.lines)
      if (crosses(box, line)) cost += kCrossLine;
    const Segment own = leader(request, box);
    for (const Box& other : placed)
      if (crosses(other, own)) cost += kCrossLeader;
    for (const Segment& other : leaders)
      if (crosses(box, other)) cost += kCrossLeader;
    return cost;
  };
  for (const LabelRequest& request : requests) {
    Box best;
    float best_cost = std::numeric_limits<float>::infinity();
    for (int ring = 0; ring < kRings; ++ring)
      for (int d = 0; d < kDirections; ++d) {
        const float distance = gap + static_cast<float>(ring) * 0.5F * request.height;
        const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(d) / kDirections;
        const Box box = box_towards(request, angle, distance);
        if (const float cost = cost_of(request, box, distance); cost < best_cost) best = box, best_cost = cost;
      }
    placed.push_back(best);
    leaders.push_back(leader(request, best));
  }
  return placed;
}

}  // namespace ridge::viz
