// Places each label near its point, away from other labels and points, and away from lines where possible.
#pragma once
#include <vector>

namespace ridge::viz {

// In pixels; y points down.
struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
struct Segment {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
struct LabelRequest {
  float x = 0, y = 0;  // the point it belongs to
  float width = 0, height = 0;
};
struct Obstacles {
  std::vector<Box> boxes;      // as costly to cover as another label
  std::vector<Segment> lines;  // cheaper to cross than a box
};

float overlap_area(const Box& a, const Box& b);
bool crosses(const Box& box, const Segment& line);

// Returns one box per request, in order. `gap` is the least distance to the point in pixels.
std::vector<Box> place_labels(const std::vector<LabelRequest>& requests, const Obstacles& obstacles, const Box& bounds,
                              float gap);

}  // namespace ridge::viz
