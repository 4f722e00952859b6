// Draws the axis, the minimap and the lanes of events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kit/draw_text.hpp"
#include "timeline/scene.hpp"
#include "timeline/store/levels.hpp"

namespace ridge::viz::timeline {
namespace {

constexpr std::size_t kMostLabels = 500, kMostArrows = 400;

void draw_counter(Frame& f, const EventStore& s, const Layout& layout, const Track& track) {
  const Counter& counter = s.counters[track.index];
  const Palette& c = f.theme.colours;
  if (counter.at.empty()) return;
  const auto [low_at, high_at] = std::minmax_element(counter.value.begin(), counter.value.end());
  const double low = std::min(0.0, *low_at), high = std::max(*high_at, low + 1e-30);
  const Window& w = layout.window;
  const auto y_of = [&](double v) {
    return track.y1 - 1 - static_cast<float>((v - low) / (high - low)) * (track.y1 - track.y0 - 3);
  };
  std::vector<ImVec2> line;
  auto at = std::upper_bound(counter.at.begin(), counter.at.end(), w.from) - counter.at.begin();
  auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 1, 0));
  float last_y = y_of(counter.value[i]);
  // One value per pixel, the largest of several.
  while (i < counter.at.size() && counter.at[i] < w.to && line.size() < 8000) {
    const float x = std::max(w.x(counter.at[i]), w.x0);
    double most = counter.value[i];
    const Time until = w.at(std::floor(x) + 1);
    for (++i; i < counter.at.size() && counter.at[i] < until; ++i) most = std::max(most, counter.value[i]);
    line.push_back({x, last_y});
    last_y = y_of(most);
    line.push_back({x, last_y});
  }
  line.push_back({w.x1, last_y});
  f.paint.polyline(line, c.accent, f.theme.px(1.6F));
  f.paint.text(f.theme.small, {w.x1 - f.theme.px(6), track.y0}, c.muted, fmt::format("{:.6g}", high), {1, 0});
}

struct Label {
  ImVec2 at;  // middle of its left edge
  ImU32 ink;
  std::string text;
};

// Returns the labels: they are drawn last, so that no arrow strikes them through.
std::vector<Label> draw_pieces(Frame& f, const Trace& trace, const Choice& choice, const Layout& layout,
                               Picture& picture) {
  const EventStore& s = *trace.store;
  const Palette& c = f.theme.colours;
  std::vector<Band> bands;
  for (const Track& t : layout.tracks) {
    if (t.what != Track::What::lane || t.y1 < layout.lanes.from.y || t.y0 > layout.lanes.to.y) continue;
    const Lane& lane = s.lanes[t.index];
    const auto rows = static_cast<std::uint32_t>(std::lround((t.y1 - t.y0) / layout.row));
    for (std::uint32_t r = 0; r < rows; ++r) {
      const float y = t.y0 + static_cast<float>(r) * layout.row;
      if (y + layout.row >= layout.lanes.from.y && y <= layout.lanes.to.y)
        bands.push_back({lane.first_row + r, y + 1, y + layout.row - 1});
    }
  }
  build_picture(s, bands, layout.window, picture);
  std::vector<ImU32> colours(s.categories.size());
  for (std::size_t i = 0; i < colours.size(); ++i)
    colours[i] = i < 256 ? colour_of(c, trace, static_cast<std::uint16_t>(i)) : c.series[3];
  std::size_t looked = 0;
  std::vector<Label> labels;
  const float least = f.theme.px(34), pad = f.theme.px(5);
  const bool searching = choice.found.count > 0;
  for (const Piece& p : picture.pieces) {
    const ImU32 colour = colours[p.category];
    // The strength of the colour is the busy share, so a bubble stays pale at every zoom.
    const ImU32 fill = p.count > 1 ? mixed(c.paper, colour, 0.2F + 0.8F * p.busy) : colour;
    const bool hit =
        searching && std::binary_search(choice.found.events.begin(), choice.found.events.end(), p.event,
                                        [&](std::uint32_t a, std::uint32_t b) {
                                          return s.begin[a] != s.begin[b] ? s.begin[a] < s.begin[b] : a < b;
                                        });
    f.paint.fill({p.x0, p.y0}, {p.x1, p.y1}, searching && !hit && p.count == 1 ? mixed(fill, c.paper, 0.65F) : fill);
    if (p.count > 1 || p.x1 - p.x0 < least || looked >= kMostLabels) continue;
    ++looked;
    const ImU32 ink = searching && !hit ? c.muted : text_on(c, colour);
    if (p.x1 - p.x0 > 3) f.paint.fill({p.x1 - 1, p.y0}, {p.x1, p.y1}, mixed(fill, c.paper, 0.5F));
    std::string name(s.name_of(p.event)), label = fitted(f.theme.small, name, p.x1 - p.x0 - 2 * pad);
    // Of "launch scale_kernel" the kernel says more than the call.
    if (constexpr std::string_view kLaunch = "launch "; label.size() < name.size() && name.starts_with(kLaunch)) {
      name = name.substr(kLaunch.size());
      label = fitted(f.theme.small, name, p.x1 - p.x0 - 2 * pad);
    }
    constexpr std::size_t kReadable = 4;  // "c..." says nothing
    if (label.size() == name.size() || label.size() >= kReadable + 3)
      labels.push_back({{p.x0 + pad, (p.y0 + p.y1) / 2}, ink, label});
  }
  return labels;
}

void draw_arrows(Frame& f, const Trace& trace, const Choice& choice, const Layout& layout) {
  const EventStore& s = *trace.store;
  const Palette& c = f.theme.colours;
  const Window& w = layout.window;
  const auto y_of = [&](std::uint32_t event) -> float {
    if (event == kNone) return -1;
    const float y = layout.row_y[s.row_of(event)];
    return y < layout.lanes.from.y - layout.row || y > layout.lanes.to.y ? -1 : y + layout.row / 2;
  };
  const auto draw = [&](const Arrow& a, ImU32 colour, float width) {
    const float y0 = y_of(a.from), y1 = y_of(a.to);
    if (y0 < 0 || y1 < 0 || y0 == y1) return;
    const float x0 = w.x(a.from_time), x1 = w.x(a.to_time),
                bend = std::min(f.theme.px(60), std::fabs(x1 - x0) / 2 + f.theme.px(6));
    std::vector<ImVec2> line;
    for (int i = 0; i <= 12; ++i) {
      const float t = static_cast<float>(i) / 12, u = 1 - t;
      line.push_back({u * u * u * x0 + 3 * u * u * t * (x0 + bend) + 3 * u * t * t * (x1 - bend) + t * t * t * x1,
                      u * u * u * y0 + 3 * u * u * t * y0 + 3 * u * t * t * y1 + t * t * t * y1});
    }
    f.paint.polyline(line, colour, width);
    const float tip = f.theme.px(5);
    f.paint.polygon({{x1, y1}, {x1 - tip, y1 - tip * 0.6F}, {x1 - tip, y1 + tip * 0.6F}}, colour);
  };
  // Arrows are sorted by begin. Those that began long before the window are drawn only for a selected event.
  const auto earliest = static_cast<Time>(std::max(-9e18, 2 * static_cast<double>(w.from) - static_cast<double>(w.to)));
  auto at = std::lower_bound(s.arrows.begin(), s.arrows.end(), earliest,
                             [](const Arrow& a, Time t) { return a.from_time < t; });
  const auto end = std::lower_bound(at, s.arrows.end(), w.to, [](const Arrow& a, Time t) { return a.from_time < t; });
  if (static_cast<std::size_t>(end - at) <= 4 * kMostArrows) {
    std::size_t drawn = 0;
    for (; at != end && drawn < kMostArrows; ++at)
      if (at->to_time > w.from) draw(*at, faded(c.ink, 0.45F), f.theme.px(1.2F)), ++drawn;
  }
  if (choice.selected == kNone || s.arrows.size() > 5'000'000) return;
  for (const Arrow& a : s.arrows)
    if (a.from == choice.selected || a.to == choice.selected) draw(a, c.accent, f.theme.px(2.4F));
}

}  // namespace

void draw_axis(Frame& f, const Trace& trace, const Layout& layout) {
  const Palette& c = f.theme.colours;
  const Window& w = layout.window;
  const int most = std::max(2, static_cast<int>((w.x1 - w.x0) / f.theme.px(130)));
  for (const AxisTick& tick : axis_ticks(w.from, w.to, trace.store->first, most)) {
    const float x = std::round(w.x(tick.at));
    f.paint.line({x, layout.axis.to.y - f.theme.px(6)}, {x, layout.axis.to.y}, c.line, 1);
    f.paint.line({x, layout.lanes.from.y}, {x, layout.lanes.to.y}, c.line_faint, 1);
    if (x - w.x0 > f.theme.px(20) && w.x1 - x > f.theme.px(36))
      f.paint.text(f.theme.small, {x, layout.axis.from.y}, c.muted, tick.label, {0.5F, 0});
    else if (x - w.x0 <= f.theme.px(20))
      f.paint.text(f.theme.small, {x, layout.axis.from.y}, c.muted, tick.label, {0, 0});
  }
  f.paint.line({w.x0, layout.axis.to.y}, {w.x1, layout.axis.to.y}, c.line, 1);
  f.log.axis("axis/time", seconds(w.from - trace.store->first), seconds(w.to - trace.store->first), w.x0, w.x1);
}

void draw_minimap(Frame& f, const Trace& trace, const Choice& choice, const Layout& layout) {
  const Palette& c = f.theme.colours;
  const Area& a = layout.minimap;
  f.paint.fill(a.from, a.to, c.paper, f.theme.px(4));
  const float step = a.width() / static_cast<float>(trace.minimap.size()), third = (a.height() - 4) / 3;
  for (std::size_t i = 0; i < trace.minimap.size(); ++i) {
    const auto& g = trace.minimap[i];
    const float x = a.from.x + step * static_cast<float>(i);
    const auto bar = [&](float share, Kind kind, float bottom) {
      if (share > 0.01F) f.paint.fill({x, bottom - share * (third - 1)}, {x + step, bottom}, colour_of(c, kind));
    };
    bar(g.compute, Kind::compute, a.from.y + 2 + third);
    bar(g.communication, Kind::communication, a.from.y + 2 + 2 * third);
    bar(g.other, Kind::host, a.from.y + 2 + 3 * third);
  }
  const EventStore& s = *trace.store;
  const double all = std::max<double>(1, static_cast<double>(s.last - s.first));
  const auto x_of = [&](Time t) {
    return a.from.x + static_cast<float>(std::clamp(static_cast<double>(t - s.first) / all, 0.0, 1.0)) * a.width();
  };
  const float x0 = x_of(choice.from), x1 = std::max(x_of(choice.to), x0 + 3);
  f.paint.fill(a.from, {x0, a.to.y}, faded(c.desk, 0.72F));
  f.paint.fill({x1, a.from.y}, a.to, faded(c.desk, 0.72F));
  f.paint.outline({x0, a.from.y}, {x1, a.to.y}, c.accent, f.theme.px(2), f.theme.px(3));
  f.paint.outline(a.from, a.to, c.line, 1, f.theme.px(4));
  f.log.box("minimap", a.from, a.to);
}

void draw_tracks(Frame& f, const Trace& trace, const Choice& choice, const Layout& layout, Picture& picture) {
  const EventStore& s = *trace.store;
  const Palette& c = f.theme.colours;
  const Theme& t = f.theme;
  using What = Track::What;
  f.paint.push_clip({layout.names.from.x, layout.lanes.from.y}, layout.lanes.to);
  for (const Track& track : layout.tracks) {
    if (track.y1 < layout.lanes.from.y || track.y0 > layout.lanes.to.y) continue;
    const float middle = (track.y0 + track.y1) / 2, x = layout.names.from.x + t.px(14);
    const float room = layout.names.width() - t.px(26);
    if (track.what == What::process) {
      const bool folded = choice.folded_processes.count(track.index) > 0;
      f.paint.line({layout.names.from.x, track.y0}, {layout.lanes.to.x, track.y0}, c.line, 1);
      const float a = t.px(5), y = middle + t.px(2), left = layout.names.from.x + t.px(4);
      if (choice.mode == Mode::events) {
        if (folded)
          f.paint.polygon({{left, y - a}, {left + a, y}, {left, y + a}}, c.muted);
        else
          f.paint.polygon({{left - a / 2, y - a / 2}, {left + a * 1.5F, y - a / 2}, {left + a / 2, y + a / 2}},
                          c.muted);
      }
      f.paint.text(t.strong, {x, y}, c.ink, fitted(t.strong, name_of(s, track.index), layout.names.width() + t.px(300)),
                   {0, 0.5F});
      f.log.box(fmt::format("process/{}", track.index), {layout.names.from.x, track.y0}, {layout.names.to.x, track.y1});
    }
    if (track.what == What::lane) {
      f.paint.text(t.small, {x, track.y0 + layout.row / 2}, c.muted,
                   fitted(t.small, name_of_lane(s, track.index), room), {0, 0.5F});
      if (choice.folded_lanes.count(track.index) && s.lanes[track.index].rows > 1)
        f.paint.text(t.small, {layout.names.to.x - t.px(6), middle}, c.muted,
                     fmt::format("+{}", s.lanes[track.index].rows - 1), {1, 0.5F});
      f.paint.fill({layout.lanes.from.x, track.y0}, {layout.lanes.to.x, track.y1}, faded(c.paper, 0.6F));
      f.log.box(fmt::format("lane/{}", track.index), {layout.names.from.x, track.y0}, {layout.lanes.to.x, track.y1});
    }
    draw_names(f, trace, layout, track);
    if (track.what == What::counter) {
      f.paint.text(t.small, {x, middle}, c.muted, fitted(t.small, s.counters[track.index].name, room), {0, 0.5F});
      f.log.box(fmt::format("counter/{}", s.counters[track.index].name), {layout.names.from.x, track.y0},
                {layout.lanes.to.x, track.y1});
    }
  }
  f.paint.pop_clip();
  f.paint.push_clip(layout.lanes.from, layout.lanes.to);
  if (choice.range)
    f.paint.fill({layout.window.x(choice.range->first), layout.lanes.from.y},
                 {layout.window.x(choice.range->second), layout.lanes.to.y}, c.selection);
  std::vector<Label> labels;
  if (choice.mode == Mode::events) labels = draw_pieces(f, trace, choice, layout, picture);
  for (const Track& track : layout.tracks) {
    if (track.y1 < layout.lanes.from.y || track.y0 > layout.lanes.to.y) continue;
    if (track.what == What::counter) draw_counter(f, s, layout, track);
    if (track.what == What::overlap) draw_overlap(f, trace, layout, track);
    if (track.what == What::ring || track.what == What::ring_model) draw_ring(f, trace, choice, layout, track);
    if (track.what == What::pipeline || track.what == What::pipeline_ideal) draw_pipeline(f, trace, layout, track);
  }
  if (choice.mode == Mode::events) draw_arrows(f, trace, choice, layout);
  for (const Label& l : labels) f.paint.text(t.small, l.at, l.ink, l.text, {0, 0.5F});
  if (choice.selected != kNone && choice.mode == Mode::events) {
    const float y = layout.row_y[s.row_of(choice.selected)];
    if (y >= 0) {
      const float x0 = layout.window.x(s.begin[choice.selected]),
                  x1 = std::max(layout.window.x(s.end(choice.selected)), x0 + 3);
      f.paint.outline({x0 - 1, y}, {x1 + 1, y + layout.row}, c.ink, t.px(2.5F), t.px(2));
      f.log.box("selected", {x0, y}, {x1, y + layout.row});
    }
  }
  const auto mark = [&](const std::optional<Time>& at, const char* name) {
    if (!at) return;
    const float x = layout.window.x(*at);
    f.paint.line({x, layout.lanes.from.y}, {x, layout.lanes.to.y}, c.failed, t.px(1.6F));
    f.paint.text(t.small, {x + t.px(4), layout.lanes.to.y - t.px(4)}, c.failed, name, {0, 1});
  };
  mark(choice.mark_a, "A");
  mark(choice.mark_b, "B");
  if (choice.range) {
    const float x0 = layout.window.x(choice.range->first), x1 = layout.window.x(choice.range->second);
    f.paint.line({x0, layout.lanes.from.y}, {x0, layout.lanes.to.y}, c.accent, t.px(1.4F));
    f.paint.line({x1, layout.lanes.from.y}, {x1, layout.lanes.to.y}, c.accent, t.px(1.4F));
    const std::string text = time_text(choice.range->second - choice.range->first);
    const ImVec2 size = text_size(t.strong, text);
    const float x = (std::max(x0, layout.lanes.from.x) + std::min(x1, layout.lanes.to.x)) / 2,
                y = layout.lanes.to.y - t.px(30);  // below the names of processes
    f.paint.fill({x - size.x / 2 - t.px(8), y - size.y / 2 - t.px(3)},
                 {x + size.x / 2 + t.px(8), y + size.y / 2 + t.px(3)}, c.accent, t.px(5));
    f.paint.text(t.strong, {x, y}, c.on_accent, text, {0.5F, 0.5F});
  }
  f.paint.pop_clip();
}

}  // namespace ridge::viz::timeline
