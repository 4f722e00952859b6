#include "roofline/point_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ridge::viz {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;
constexpr int kPerTurn = 64;  // points of a whole circle

}  // namespace

std::vector<std::vector<std::size_t>> clusters_of(const std::vector<Pixel>& points, float reach) {
  std::vector<std::vector<std::size_t>> clusters;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto near = [&](const std::vector<std::size_t>& c) {
      return std::hypot(points[c[0]].x - points[i].x, points[c[0]].y - points[i].y) <= reach;
    };
    if (const auto at = std::find_if(clusters.begin(), clusters.end(), near); at != clusters.end())
      at->push_back(i);
    else
      clusters.push_back({i});
  }
  return clusters;
}

std::vector<Pixel> arc_of(Pixel centre, float radius, std::size_t index, std::size_t count, float gap) {
  const float share = kTurn / static_cast<float>(count), free = count > 1 ? gap / std::max(radius, 1.0F) : 0;
  const float from = static_cast<float>(index) * share + free / 2, turn = std::max(share - free, share / 4);
  const int parts = std::max(2, static_cast<int>(kPerTurn * turn / kTurn));
  std::vector<Pixel> line;
  for (int i = 0; i <= parts; ++i) {
    const float angle = from + turn * static_cast<float>(i) / static_cast<float>(parts);
    line.push_back({centre.x + radius * std::sin(angle), centre.y - radius * std::cos(angle)});
  }
  return line;
}

std::size_t member_at(Pixel centre, Pixel at, std::size_t count) {
  float angle = std::atan2(at.x - centre.x, centre.y - at.y);
  if (angle < 0) angle += kTurn;
  return std::min(static_cast<std::size_t>(angle / kTurn * static_cast<float>(count)), count - 1);
}

std::vector<Box> boxes_along(const std::vector<Pixel>& line, float half) {
  std::vector<Box> boxes;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const float length = std::hypot(line[i + 1].x - line[i].x, line[i + 1].y - line[i].y);
    const int steps = std::max(1, static_cast<int>(std::ceil(length / (2 * half))));
    for (int s = 0; s <= steps; ++s) {
      const float t = static_cast<float>(s) / static_cast<float>(steps);
      const float x = line[i].x + t * (line[i + 1].x - line[i].x), y = line[i].y + t * (line[i + 1].y - line[i].y);
      boxes.push_back({x - half, y - half, x + half, y + half});
    }
  }
  return boxes;
}

}  // namespace ridge::viz
