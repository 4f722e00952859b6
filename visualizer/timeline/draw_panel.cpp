// Draws the panel beside the lanes: the selected event, the chosen range, the analysis, the legend.
#include <fmt/format.h>

#include <algorithm>

#include "kit/draw_text.hpp"
#include "kit/widgets.hpp"
#include "timeline/scene.hpp"

namespace ridge::viz::timeline {
namespace {

// Writes a card from top to bottom.
class Writer {
 public:
  Writer(Frame& f, Area area) : f_(f), t_(f.theme), c_(f.theme.colours), area_(area), y_(area.from.y) {}
  bool full() const { return y_ > area_.to.y - t_.px(24); }
  void heading(const std::string& text) {
    if (full()) return;
    f_.paint.text(t_.strong, {area_.from.x, y_}, c_.ink, fitted(t_.strong, text, area_.width()));
    y_ += t_.px(30);
  }
  void words(const std::string& text, std::size_t most = 4) {
    if (full()) return;
    y_ += paragraph(f_.paint, t_.small, {area_.from.x, y_}, area_.width(), c_.muted, text, most) + t_.px(4);
  }
  void figure(const std::string& text, const std::string& what) {
    if (full()) return;
    f_.paint.text(t_.title, {area_.from.x, y_}, c_.ink, text);
    y_ += t_.px(44);
    words(what, 3);
  }
  // Writes a name and its value, with a hairline below.
  void pair(const std::string& name, const std::string& value, ImU32 mark = 0) {
    if (full()) return;
    float x = area_.from.x;
    if (mark != 0) {
      f_.paint.fill({x, y_ + t_.px(5)}, {x + t_.px(12), y_ + t_.px(17)}, mark, t_.px(2));
      x += t_.px(20);
    }
    const float value_width = std::min(text_size(t_.small, value).x, area_.width() * 0.62F);
    f_.paint.text(t_.small, {area_.to.x, y_}, c_.ink, fitted(t_.small, value, value_width + 1), {1, 0});
    f_.paint.text(t_.small, {x, y_}, c_.muted, fitted(t_.small, name, area_.to.x - x - value_width - t_.px(10)));
    y_ += t_.px(27);
    f_.paint.line({area_.from.x, y_ - t_.px(4)}, {area_.to.x, y_ - t_.px(4)}, c_.line_faint, 1);
  }
  void bar(double share, ImU32 colour) {
    if (full()) return;
    f_.paint.fill({area_.from.x, y_}, {area_.to.x, y_ + t_.px(8)}, c_.line_faint, t_.px(4));
    const float x = area_.from.x + area_.width() * static_cast<float>(std::clamp(share, 0.0, 1.0));
    f_.paint.fill({area_.from.x, y_}, {x, y_ + t_.px(8)}, colour, t_.px(4));
    y_ += t_.px(20);
  }
  void gap() { y_ += t_.px(18); }

 private:
  Frame& f_;
  const Theme& t_;
  const Palette& c_;
  Area area_;
  float y_;
};

void write_selected(Writer& w, Frame& f, const EventStore& s, const Choice& choice) {
  const std::uint32_t e = choice.selected;
  const std::uint32_t lane = s.rows[s.row_of(e)].lane;
  w.heading(std::string(s.name_of(e)));
  w.pair("duration", s.duration[e] > 0 ? time_text(s.duration[e]) : "instant");
  w.pair("begins at", time_text(s.begin[e] - s.first));
  w.pair("category", std::string(s.category_of(e)));
  w.pair("on", name_of(s, s.lanes[lane].process) + ", " + name_of_lane(s, lane));
  if (const Detail* d = s.detail(e); d && d->bytes > 0 && s.duration[e] > 0) {
    w.pair("bytes", bytes_text(d->bytes));
    w.pair("achieved", rate_text(d->bytes / seconds(s.duration[e])));
  }
  for (const auto& [name, value] : choice.arguments) w.pair(name, value);
  f.log.text("selected/name", std::string(s.name_of(e)));
  f.log.value("selected/seconds", seconds(s.duration[e]));
  w.gap();
}

void write_range(Writer& w, Frame& f, const Trace& trace, const RangeStatistics& r) {
  w.heading("Range of " + time_text(r.to - r.from));
  w.pair("events", count_text(r.events) + (r.cut ? "+" : ""));
  if (r.bytes > 0) w.pair("bytes", bytes_text(r.bytes)), w.pair("while moving", rate_text(r.bandwidth()));
  const EventStore& s = *trace.store;
  for (std::size_t i = 0; i < std::min<std::size_t>(r.categories.size(), 4); ++i)
    for (std::uint16_t k = 0; k < s.categories.size() && k < 256; ++k)
      if (s.strings[s.categories[k]] == r.categories[i].name)
        w.pair(r.categories[i].name.empty() ? "no category" : r.categories[i].name, time_text(r.categories[i].busy),
               colour_of(f.theme.colours, trace, k));
  for (std::size_t i = 0; i < std::min<std::size_t>(r.names.size(), 8); ++i)
    w.pair(r.names[i].name, fmt::format("{} x  {}", count_text(r.names[i].count), time_text(r.names[i].busy)));
  f.log.value("range/events", static_cast<double>(r.events));
  f.log.value("range/seconds", seconds(r.to - r.from));
  f.log.value("range/bytes", r.bytes);
  w.gap();
}

void write_overlap(Writer& w, Frame& f, const Trace& trace) {
  w.heading("Exposed communication");
  w.words("Time of transfers while no kernel of the same rank runs: nothing hides it.");
  double worst = 0;
  for (const RankOverlap& r : trace.overlap) worst = std::max(worst, r.exposed_share());
  if (!trace.overlap.empty())
    w.figure(percent_text(worst), "of the transfers' time, on the rank with the largest share");
  for (const RankOverlap& r : trace.overlap) {
    w.pair(name_of(*trace.store, r.process),
           r.transfers > 0 ? fmt::format("{} of {}", time_text(r.uncovered), time_text(r.transfers)) : "no transfers");
    w.bar(r.exposed_share(), f.theme.colours.failed);
    f.log.value(fmt::format("exposed/{}", r.rank), r.exposed_share());
  }
}

void write_collective(Writer& w, Frame& f, const Trace& trace) {
  const Collective& c = *trace.collective;
  const bool chunks = c.steps.front().chunk >= 0;
  w.heading(chunks ? "Ring steps" : "Transfers by rank");
  w.words(fmt::format("{} ranks, up to {} sends each. {}Below each rank, outlined: what the alpha-beta model says.",
                      c.processes.size(), c.most_steps, chunks ? "Colour: the chunk. " : ""));
  std::vector<double> rates;
  double bytes = 0;
  Time first = c.steps.front().begin, last = c.steps.front().end;
  for (const RingStep& s : c.steps) {
    rates.push_back(s.bandwidth()), bytes += s.bytes;
    first = std::min(first, s.begin), last = std::max(last, s.end);
  }
  std::sort(rates.begin(), rates.end());
  w.figure(rate_text(rates[rates.size() / 2]), "a send, the median");
  w.pair("fastest, slowest", rate_text(rates.back()) + ", " + rate_text(rates.front()));
  w.pair("sent in all", bytes_text(bytes));
  w.pair("from first to last", time_text(last - first));
  f.log.value("ring/median", rates[rates.size() / 2]);
  if (!c.ideal.empty()) {
    Time model_last = first;
    for (const RingStep& s : c.ideal) model_last = std::max(model_last, s.end);
    w.pair("by the model", time_text(model_last - first));
    f.log.value("ring/by the model", seconds(model_last - first));
  }
  for (std::size_t i = 0; i < c.links.size(); ++i)
    w.pair(fmt::format("link {}: alpha, beta", i + 1),
           time_text(static_cast<Time>(c.links[i].alpha * 1e12)) + ", " + rate_text(c.links[i].beta));
  if (!c.links.empty()) w.words("alpha-beta: " + c.links[0].source);
  if (c.model) {
    w.pair("alpha", c.model->alpha > 0 ? time_text(static_cast<Time>(c.model->alpha * 1e12)) : "0");
    w.pair("beta", rate_text(c.model->beta));
    w.words("alpha-beta: " + c.model->source);
    f.log.value("ring/alpha", c.model->alpha);
    f.log.value("ring/beta", c.model->beta);
  }
  if (!c.note.empty()) w.words(c.note);
}

void write_pipeline(Writer& w, Frame& f, const Trace& trace) {
  const Pipeline& p = *trace.pipeline;
  w.heading("Pipeline bubble");
  w.figure(percent_text(p.bubble),
           fmt::format("of {} on {} ranks: no kernel runs", time_text(p.whole), p.processes.size()));
  w.bar(p.bubble, f.theme.colours.failed);
  if (!p.ideal.empty()) {
    w.pair("the schedule's own", percent_text(p.ideal_bubble));
    w.pair("would take", time_text(p.ideal_whole));
    w.bar(p.ideal_bubble, f.theme.colours.muted);
    w.words("Ideal: the same order on each rank, every step as long as its median, transfers for free.");
  }
  w.pair("micro-batches", std::to_string(p.micro_batches));
  if (p.chunks > 1) w.pair("chunks a rank", std::to_string(p.chunks));
  if (!p.note.empty()) w.words(p.note);
  w.gap();
  for (int k = 0; k < std::min(p.micro_batches, 10); ++k)
    w.pair(fmt::format("micro-batch {}", k), "", colour_of_micro_batch(f.theme.colours, k));
  w.words("F: forward, full colour. B: backward, pale with a strong foot.");
  f.log.value("bubble", p.bubble);
  f.log.value("bubble/ideal", p.ideal_bubble);
}

void write_legend(Writer& w, Frame& f, const Trace& trace) {
  const EventStore& s = *trace.store;
  w.heading("Categories");
  for (std::size_t i = 0; i < std::min<std::size_t>(trace.categories.size(), 9); ++i) {
    const std::uint16_t k = trace.categories[i];
    const auto name = s.strings[s.categories[k]];
    w.pair(name.empty() ? "none" : std::string(name), name_of(trace.kind_of_category[k]),
           colour_of(f.theme.colours, trace, k));
  }
}

}  // namespace

void draw_panel(Frame& f, const Trace& trace, const Choice& choice, const Layout& l) {
  const float pad = f.theme.px(18);
  card(f, l.panel.from, l.panel.to, f.theme.px(8));
  f.paint.push_clip(l.panel.from, l.panel.to);
  Writer w(f, {{l.panel.from.x + pad, l.panel.from.y + pad}, {l.panel.to.x - pad, l.panel.to.y - pad}});
  if (choice.mark_a && choice.mark_b) {
    w.pair("from A to B",
           time_text(std::max(*choice.mark_a, *choice.mark_b) - std::min(*choice.mark_a, *choice.mark_b)));
    f.log.value("measured/seconds",
                seconds(std::max(*choice.mark_a, *choice.mark_b) - std::min(*choice.mark_a, *choice.mark_b)));
    w.gap();
  }
  if (choice.selected != kNone) write_selected(w, f, *trace.store, choice);
  if (choice.statistics) write_range(w, f, trace, *choice.statistics);
  switch (choice.mode) {
    case Mode::overlap:
      write_overlap(w, f, trace);
      break;
    case Mode::collective:
      if (trace.collective) write_collective(w, f, trace);
      break;
    case Mode::pipeline:
      if (trace.pipeline) write_pipeline(w, f, trace);
      break;
    case Mode::events:
      write_legend(w, f, trace);
      if (choice.selected == kNone && !choice.range) {
        w.gap();
        w.heading("Look closer");
        w.words("Wheel: zoom. Drag: choose a range. Click: an event. W A S D: zoom and move. F: all. M twice: measure.",
                5);
      }
  }
  f.paint.pop_clip();
}

}  // namespace ridge::viz::timeline
