// Draws the lanes of the analyses: overlap, rings with their model, pipelines with their ideal schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kit/draw_text.hpp"
#include "timeline/scene.hpp"

namespace ridge::viz::timeline {
namespace {

// Draws spans that are closer than a pixel as one, whose strength is the busy share.
void draw_spans(Frame& f, const Window& w, const Spans& spans, float y0, float y1, ImU32 colour) {
  const auto least = static_cast<Time>(w.per_pixel() * 2);
  auto at = std::lower_bound(spans.begin(), spans.end(), w.from, [](const auto& s, Time t) { return s.second < t; });
  int budget = 1200;
  while (at != spans.end() && at->first < w.to && budget-- > 0) {
    const Time from = at->first;
    Time to = at->second, busy = to - from;
    for (++at; at != spans.end() && at->second - from < least * 2 && at->first - to < least; ++at)
      busy += at->second - at->first, to = at->second;
    // A span narrower than a pixel is as strong as the share that it covers.
    const float x0 = std::max(w.x(from), w.x0), width = std::min(w.x(to), w.x1) - x0;
    const float share =
        static_cast<float>(busy) / static_cast<float>(std::max<Time>(to - from, 1)) * std::min(width, 1.0F);
    if (share < 0.02F) continue;
    f.paint.fill({x0, y0}, {x0 + std::max(width, 1.0F), y1}, mixed(f.theme.colours.paper, colour, 0.1F + 0.9F * share));
  }
}

// An outlined box stands for a time that a model predicts.
void ghost(Frame& f, ImVec2 from, ImVec2 to, ImU32 colour) {
  f.paint.fill(from, to, faded(colour, 0.13F));
  f.paint.outline(from, to, faded(colour, 0.85F), std::max(1.0F, f.theme.px(1.2F)));
}

}  // namespace

void draw_names(Frame& f, const Trace& trace, const Layout& l, const Track& track) {
  const Palette& c = f.theme.colours;
  const auto name = [&](float y, const std::string& text, ImU32 colour) {
    f.paint.text(f.theme.small, {l.names.from.x + f.theme.px(14), y}, colour,
                 fitted(f.theme.small, text, l.names.width() - f.theme.px(20)), {0, 0.5F});
  };
  const float middle = (track.y0 + track.y1) / 2;
  using What = Track::What;
  if (track.what == What::overlap) {
    const RankOverlap& r = trace.overlap[track.index];
    const float y = track.y0 + l.row / 2;
    name(y, "kernels  " + time_text(r.busy), c.muted);
    name(y + l.row, "transfers  " + time_text(r.transfers), c.muted);
    name(y + 2 * l.row, "exposed  " + time_text(r.uncovered), c.ink);
  }
  if (track.what == What::ring || track.what == What::pipeline) name(middle, "measured", c.ink);
  if (track.what == What::ring_model) name(middle, "alpha-beta model", c.muted);
  if (track.what == What::pipeline_ideal) name(middle, "ideal schedule", c.muted);
}

void draw_overlap(Frame& f, const Trace& trace, const Layout& l, const Track& track) {
  const RankOverlap& r = trace.overlap[track.index];
  const Palette& c = f.theme.colours;
  const float h = l.row, in = f.theme.px(3);
  const auto line = [&](int i, const char* text, const Spans& spans, ImU32 colour) {
    const float y = track.y0 + h * static_cast<float>(i);
    f.paint.fill({l.lanes.from.x, y + in}, {l.lanes.to.x, y + h - in}, faded(c.paper, 0.7F));
    draw_spans(f, l.window, spans, y + in, y + h - in, colour);
    f.log.box(fmt::format("overlap/{}/{}", r.rank, text), {l.names.from.x, y}, {l.lanes.to.x, y + h});
  };
  line(0, "kernels", r.compute, c.series[0]);
  line(1, "transfers", r.communication, c.series[1]);
  line(2, "exposed", r.exposed, c.failed);
}

void draw_ring(Frame& f, const Trace& trace, const Choice& choice, const Layout& l, const Track& track) {
  const Collective& col = *trace.collective;
  const Palette& c = f.theme.colours;
  const Theme& t = f.theme;
  const bool model = track.what == Track::What::ring_model;
  const auto& steps = model ? col.ideal : col.steps;
  int budget = 2000;
  for (const RingStep& s : steps) {
    if (s.place != track.index || s.end < l.window.from || s.begin > l.window.to) continue;
    if (--budget < 0) break;
    const float x0 = l.window.x(s.begin), x1 = std::max(l.window.x(s.end), x0 + 1);
    const ImVec2 from{x0 + 0.5F, track.y0 + 1}, to{std::max(x1 - 0.5F, x0 + 1), track.y1 - 1};
    const ImU32 base = s.chunk >= 0 ? colour_of_micro_batch(c, s.chunk) : c.series[1];
    if (model) {
      ghost(f, from, to, base);
      continue;
    }
    f.paint.fill(from, to, base, t.px(2));
    if (s.event == choice.selected) f.paint.outline(from, to, c.ink, t.px(2.5F), t.px(2));
    f.log.box(fmt::format("ring/{}/{}", s.place, s.step), from, to);
    if (x1 - x0 < t.px(46)) continue;
    const ImU32 ink = text_on(c, base);
    const float room = x1 - x0 - t.px(10);
    const std::string what = s.chunk >= 0 ? fmt::format("chunk {}", s.chunk) : fmt::format("step {}", s.step);
    f.paint.text(t.small, {x0 + t.px(5), track.y0 + (track.y1 - track.y0) * 0.28F}, ink, fitted(t.small, what, room),
                 {0, 0.5F});
    std::string rate = rate_text(s.bandwidth());
    if (text_size(t.small, rate).x > room) rate = rate.substr(0, rate.find(' '));  // the panel has the unit
    f.paint.text(t.small, {x0 + t.px(5), track.y0 + (track.y1 - track.y0) * 0.73F}, ink, fitted(t.small, rate, room),
                 {0, 0.5F});
  }
}

void draw_pipeline(Frame& f, const Trace& trace, const Layout& l, const Track& track) {
  const Pipeline& p = *trace.pipeline;
  const Palette& c = f.theme.colours;
  const Theme& t = f.theme;
  const bool ideal = track.what == Track::What::pipeline_ideal;
  f.paint.fill({l.lanes.from.x, track.y0}, {l.lanes.to.x, track.y1}, ideal ? faded(c.paper, 0.3F) : c.paper);
  int budget = 2500;
  for (const PipelineStep& s : ideal ? p.ideal : p.steps) {
    if (s.place != track.index || s.end < l.window.from || s.begin > l.window.to) continue;
    if (--budget < 0) break;
    const float x0 = l.window.x(s.begin), x1 = std::max(l.window.x(s.end), x0 + 1);
    const ImVec2 from{x0 + 0.5F, track.y0 + 1}, to{std::max(x1 - 0.5F, x0 + 1), track.y1 - 1};
    const ImU32 base = colour_of_micro_batch(c, s.micro_batch);
    const std::string word = fmt::format("{}{}", s.forward ? "F" : "B", s.micro_batch);
    if (ideal) {
      ghost(f, from, to, base);
      if (x1 - x0 > t.px(24))
        f.paint.text(t.small, {(x0 + x1) / 2, (track.y0 + track.y1) / 2}, c.muted, word, {0.5F, 0.5F});
      continue;
    }
    // A backward is paler and has a strong foot, to be recognised without its colour.
    const ImU32 ground = s.forward ? base : mixed(base, c.paper, 0.55F);
    f.paint.fill(from, to, ground, t.px(2));
    if (!s.forward) f.paint.fill({from.x, to.y - (to.y - from.y) * 0.16F}, to, base);
    f.log.box(fmt::format("step/{}/{}{}{}", s.place, s.forward ? "F" : "B", s.micro_batch,
                          p.chunks > 1 ? fmt::format(".{}", s.chunk) : ""),
              from, to);
    if (x1 - x0 < t.px(22)) continue;
    f.paint.text(t.small, {(x0 + x1) / 2, (track.y0 + track.y1) / 2 - (s.forward ? 0 : t.px(2))}, text_on(c, ground),
                 word, {0.5F, 0.5F});
  }
}

}  // namespace ridge::viz::timeline
