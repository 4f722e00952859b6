// Finds a place for every label near its point: off the other labels and points, and off lines where that is
// possible.
#pragma once
#include <vector>

namespace ridge::viz {

// Pixels, y downwards.
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
  std::vector<Box> boxes;      // as bad to cover as another label
  std::vector<Segment> lines;  // better not crossed
};

float overlap_area(const Box& a, const Box& b);
bool crosses(const Box& box, const Segment& line);

// One box per request, in order. `gap` is the least distance to the point.
std::vector<Box> place_labels(const std::vector<LabelRequest>& requests, const Obstacles& obstacles, const Box& bounds,
                              float gap);

}  // namespace ridge::viz
