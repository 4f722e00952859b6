// Tasks whose points lie at one place share a marker and a label.
#pragma once
#include <cstddef>
#include <vector>

#include "roofline/label_layout.hpp"

namespace ridge::viz {

struct Pixel {
  float x = 0, y = 0;
};

// Indices of the points in groups: a point joins the first group whose first point is at most `reach` pixels away.
std::vector<std::vector<std::size_t>> clusters_of(const std::vector<Pixel>& points, float reach);

// The part of a circle around `centre` that member `index` of `count` has, clockwise from the top, as a line. Between
// the parts of several members `gap` pixels are free.
std::vector<Pixel> arc_of(Pixel centre, float radius, std::size_t index, std::size_t count, float gap);

// The member whose part lies in the direction of `at`.
std::size_t member_at(Pixel centre, Pixel at, std::size_t count);

// Small boxes along a line, to keep labels off it.
std::vector<Box> boxes_along(const std::vector<Pixel>& line, float half);

}  // namespace ridge::viz
