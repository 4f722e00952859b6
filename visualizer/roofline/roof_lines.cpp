#include "roofline/roof_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kit/draw_text.hpp"

namespace ridge::viz {
namespace {

struct Line {
  const Ceiling* ceiling;
  bool binds;  // one of the two roofs that bound the tasks
  Segment on;  // the part inside the plot, left to right
};

// A roof ends where it meets the other one. A bandwidth without a compute roof leaves the plot.
Line line_of(const Ceiling& c, const Plot& plot, const Roofs& roofs) {
  const bool memory = c.kind == CeilingKind::bandwidth;
  const Ceiling* other = memory ? roofs.compute : roofs.memory;
  double x0 = plot.x.low, x1 = plot.x.high;
  if (memory) {
    x0 = std::max(x0, plot.y.low / c.value);
    x1 = std::min({x1, (other ? other->value : plot.y.high) / c.value, plot.y.high / c.value});
  } else if (c.value < plot.y.low || c.value > plot.y.high) {
    x1 = x0;  // the zoom excludes it
  } else if (other) {
    x0 = std::max(x0, c.value / other->value);
  }
  const auto rate = [&](double x) { return memory ? c.value * x : c.value; };
  const ImVec2 a = plot.at(x0, rate(x0)), b = plot.at(x1, rate(x1));
  return {&c, &c == roofs.memory || &c == roofs.compute, {a.x, a.y, b.x, b.y}};
}

struct Placement {
  ImVec2 centre;
  std::vector<Box> covers;  // small boxes along the rotated text
};

// `along` runs from 0 at the line's left end to 1 at its right; `side` is -1 above the line and 1 below.
Placement beside(const Line& line, ImVec2 size, float along, float side, float gap) {
  const Segment& s = line.on;
  const float length = std::hypot(s.x1 - s.x0, s.y1 - s.y0);
  const float dx = (s.x1 - s.x0) / length, dy = (s.y1 - s.y0) / length;
  const float margin = size.x / 2 + size.y;
  // A label longer than its line is aligned with the line's end, and its start lies over the slope.
  const float t = length > 2 * margin ? margin + along * (length - 2 * margin) : length - size.x / 2 - size.y / 4;
  const float off = side * (size.y / 2 + gap);
  Placement p{{s.x0 + t * dx - off * dy, s.y0 + t * dy + off * dx}, {}};
  const float half = size.y / 2;
  for (float u = -size.x / 2; u <= size.x / 2; u += half) {
    const float x = p.centre.x + u * dx, y = p.centre.y + u * dy;
    p.covers.push_back({x - half, y - half, x + half, y + half});
  }
  return p;
}

int hits(const Placement& p, const Line& self, const std::vector<Line>& lines, const std::vector<Box>& keep_off) {
  int count = 0;
  for (const Box& box : p.covers) {
    for (const Box& other : keep_off) count += overlap_area(box, other) > 0;
    for (const Line& line : lines) count += line.ceiling != self.ceiling && crosses(box, line.on);
  }
  return count;
}

void draw_label(Frame& frame, const Line& line, const std::vector<Line>& lines, const std::vector<Box>& points,
                Obstacles& drawn) {
  const Theme& theme = frame.theme;
  const Ceiling& c = *line.ceiling;
  const bool memory = c.kind == CeilingKind::bandwidth;
  const Type& type = line.binds ? theme.strong : theme.small;
  const auto text = fmt::format("{}  {}", short_name(c), si(c.value, c.unit));
  const ImVec2 size = text_size(type, text);
  std::vector<Box> keep_off = points;
  keep_off.insert(keep_off.end(), drawn.boxes.begin(), drawn.boxes.end());

  // A slope's label fits best in its middle, a peak's at its right end. The first free place wins.
  static constexpr float kSlope[] = {0.6F, 0.45F, 0.75F, 0.3F, 0.9F, 0.15F, 0, 1, 0.5F, 0.7F};
  static constexpr float kPeak[] = {1, 0.75F, 0.5F, 0.25F, 0, 0.9F, 0.62F, 0.38F, 0.12F, 0.82F};
  Placement best;
  int best_hits = -1;
  for (const float side : {-1.0F, 1.0F})
    for (const float along : memory ? kSlope : kPeak) {
      Placement p = beside(line, size, along, side, theme.px(7));
      const int count = hits(p, line, lines, keep_off);
      if (best_hits >= 0 && count >= best_hits) continue;
      best = std::move(p), best_hits = count;
    }
  if (best_hits > 0 && !line.binds) return;  // it would be unreadable; the choice of roofs names it
  const float angle = std::atan2(line.on.y1 - line.on.y0, line.on.x1 - line.on.x0);
  frame.paint.text(type, best.centre, line.binds ? theme.colours.ink : theme.colours.muted, text, {0.5F, 0.5F}, angle);
  drawn.boxes.insert(drawn.boxes.end(), best.covers.begin(), best.covers.end());
}

// The band between the lowest and the highest measured value.
void draw_spread(Frame& frame, const Ceiling& c, const Plot& plot, const Segment& on) {
  if (!c.low || !c.high) return;
  const float up = plot.y.project(*c.high) - plot.y.project(c.value),
              down = plot.y.project(*c.low) - plot.y.project(c.value);
  frame.paint.polygon({{on.x0, on.y0 + up}, {on.x1, on.y1 + up}, {on.x1, on.y1 + down}, {on.x0, on.y0 + down}},
                      faded(frame.theme.colours.roof, 0.22F));
  frame.log.box("spread/" + c.id, {on.x0, on.y1 + up}, {on.x1, on.y0 + down});
}

}  // namespace

void draw_ground(Frame& frame, const Plot& plot, const Roofs& roofs) {
  const Theme& theme = frame.theme;
  frame.paint.fill(plot.from, plot.to, theme.colours.beyond);
  const auto roof_at = [&](double x) { return plot.at(x, attainable(roofs, x).value_or(plot.y.high)); };
  // The polygon must be convex, so it starts where the roof enters the plot.
  const double start = roofs.memory ? std::max(plot.x.low, plot.y.low / roofs.memory->value) : plot.x.low;
  if (start >= plot.x.high || (roofs.compute && roofs.compute->value <= plot.y.low)) return;
  std::vector<ImVec2> area{{plot.x.project(start), plot.to.y}, roof_at(start)};
  if (const auto ridge = ridge_point(roofs); ridge && *ridge > start && *ridge < plot.x.high)
    area.push_back(roof_at(*ridge));
  area.push_back(roof_at(plot.x.high));
  area.push_back(plot.to);
  frame.paint.polygon(area, theme.colours.paper);
}

void draw_regions(Frame& frame, const Plot& plot, const Roofs& roofs, const std::vector<Box>& points,
                  Obstacles& drawn) {
  const Theme& theme = frame.theme;
  const auto ridge = ridge_point(roofs);
  if (!ridge || *ridge <= plot.x.low || *ridge >= plot.x.high) return;
  const auto px = [&](float v) { return theme.px(v); };
  const ImVec2 top = plot.at(*ridge, roofs.compute->value);
  for (float y = top.y; y < plot.to.y; y += px(12))
    frame.paint.line({top.x, y}, {top.x, y + px(5)}, theme.colours.muted, px(1.5F));
  drawn.lines.push_back({top.x, top.y, top.x, plot.to.y});
  // `right`: whether the text stands to the right of the line. Where something is drawn at `y` already, the text moves
  // by steps of `by` pixels; where nothing is free, it is left out.
  const auto note = [&](const std::string& text, float y, bool right, float by) {
    const ImVec2 size = text_size(theme.small, text);
    const float x = right ? top.x + px(12) : top.x - px(12) - size.x;
    for (int step = 0; step < 6; ++step, y += by) {
      const Box box{x - px(4), y - px(4), x + size.x + px(4), y + size.y + px(4)};
      if (std::any_of(points.begin(), points.end(), [&](const Box& p) { return overlap_area(p, box) > 0; })) continue;
      frame.paint.text(theme.small, {x, y}, theme.colours.muted, text);
      drawn.boxes.push_back(box);
      return;
    }
  };
  const float foot = plot.to.y - px(14) - theme.small.size, line = theme.small.size * 1.5F;
  note("memory bound", foot, false, -line);
  note("compute bound", foot, true, -line);
  note(fmt::format("ridge point {:.3g}", *ridge), top.y + px(14), true, line);
}

void draw_roofs(Frame& frame, const Plot& plot, const Roofs& roofs, const std::vector<Ceiling>& ceilings,
                const std::vector<Box>& points, Obstacles& drawn) {
  const Theme& theme = frame.theme;
  std::vector<Line> lines;
  for (const Ceiling& c : ceilings) {
    const Line line = line_of(c, plot, roofs);
    if (line.on.x0 < line.on.x1) lines.push_back(line);
  }
  // The binding roofs are drawn last, on top, and labelled first, for the best places.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.binds < b.binds; });
  for (const Line& line : lines) draw_spread(frame, *line.ceiling, plot, line.on);
  for (const Line& line : lines) {
    frame.log.value("roof/" + line.ceiling->id, line.ceiling->value);
    frame.paint.line({line.on.x0, line.on.y0}, {line.on.x1, line.on.y1},
                     line.binds ? theme.colours.roof : theme.colours.muted, theme.px(line.binds ? 4.5F : 2));
    drawn.lines.push_back(line.on);
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) draw_label(frame, *line, lines, points, drawn);
}

}  // namespace ridge::viz
