#include "roofline/side_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kit/draw_text.hpp"
#include "kit/widgets.hpp"

namespace ridge::viz {
namespace {

constexpr std::size_t kTitleMost = 72;     // bytes
constexpr std::size_t kMessageMost = 260;  // bytes of a failed check's message; the report has all of it
constexpr std::size_t kAloneMost = 900;    // where one task's card has the panel for itself

std::string points_text(double value) { return fmt::format("{:.{}f}", value, value == std::round(value) ? 0 : 1); }

// Draws nothing; it measures the height of the panel.
class Nowhere : public Painter {
 public:
  void fill(ImVec2, ImVec2, ImU32, float) override {}
  void outline(ImVec2, ImVec2, ImU32, float, float) override {}
  void line(ImVec2, ImVec2, ImU32, float) override {}
  void polyline(const std::vector<ImVec2>&, ImU32, float) override {}
  void polygon(const std::vector<ImVec2>&, ImU32) override {}
  void circle(ImVec2, float, ImU32, float) override {}
  void text(const Type&, ImVec2, ImU32, const std::string&, ImVec2, float) override {}
  void push_clip(ImVec2, ImVec2) override {}
  void pop_clip() override {}
};

class Panel {
 public:
  Panel(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to, float scroll)
      : frame_(frame),
        scene_(scene),
        chosen_(chosen),
        theme_(frame.theme),
        c_(theme_.colours),
        left_(from.x + px(28)),
        right_(to.x - px(24)),
        y_(from.y + px(24) - scroll),
        top_(y_) {}

  float draw() {
    head();
    if (scene_.group.attempts.size() > 1) attempts();
    if (chosen_.other)
      comparison();
    else
      score();
    if (!chosen_.other)
      for (std::size_t i = 0; i < scene_.result.tasks.size(); ++i)
        if (chosen_.task.empty() || scene_.result.tasks[i].id == chosen_.task) task(i);
    if (scene_.result.tasks.empty()) roofs();
    return y_ - top_ + px(40);
  }

 private:
  float px(float v) const { return theme_.px(v); }
  float width() const { return right_ - left_; }
  ImU32 status_colour(const std::string& status) const {
    return status == "passed" ? c_.passed : status == "failed" || status == "build-failed" ? c_.failed : c_.muted;
  }

  void head() {
    const Result& r = scene_.result;
    if (scene_.groups.size() > 1) {
      ImVec2 at{right_ - px(96), y_};
      const auto word = fmt::format("{} of {}", chosen_.group + 1, scene_.groups.size());
      frame_.paint.text(theme_.small, {left_, y_ + button_height(theme_) / 2}, c_.muted, word, {0, 0.5F});
      if (button(frame_, "button/previous", "\u2190", at)) step(-1);
      if (button(frame_, "button/next", "\u2192", at)) step(1);
      y_ += button_height(theme_) + px(10);
    }
    y_ += paragraph(frame_.paint, theme_.title, {left_, y_}, width(), c_.ink,
                    shortened(r.title.empty() ? r.lab : r.title, kTitleMost), 2);
    y_ += px(8);
    fact(r.tasks.empty() ? "From" : "Lab", r.lab);
    fact(r.steps ? "Step" : r.tasks.empty() ? "File" : "Attempt", r.attempt);
    fact("Backend", r.mode.empty()       ? r.backend
                    : r.standing.empty() ? fmt::format("{} ({})", r.backend, r.mode)
                                         : fmt::format("{} ({}, {})", r.backend, r.mode, r.standing));
    fact("Device", r.device);
  }

  void step(int by) {
    const auto n = scene_.groups.size();
    chosen_.group = (chosen_.group + n + static_cast<std::size_t>(by)) % n;
    chosen_.shown = scene_.groups[chosen_.group].attempts.size() - 1;
    chosen_.other.reset();
    chosen_.task.clear();
    chosen_.zoom.reset();
  }

  void fact(const char* name, const std::string& value) {
    if (value.empty()) return;
    const float column = text_size(theme_.small, "Backend").x + px(22);
    frame_.paint.text(theme_.small, {left_, y_}, c_.muted, name);
    frame_.paint.text(theme_.small, {left_ + column, y_}, c_.ink, fitted(theme_.small, value, width() - column));
    y_ += theme_.small.size + px(8);
  }

  // One box per attempt: a click shows it and, while Compare is on, compares it with the one shown before.
  void attempts() {
    const auto& all = scene_.group.attempts;
    y_ += px(8);
    frame_.paint.text(theme_.small, {left_, y_}, c_.muted, scene_.result.steps ? "Steps" : "Attempts");
    ImVec2 at{right_ - text_size(theme_.body, "Compare").x - px(24), y_ - px(8)};
    if (button(frame_, "button/compare", "Compare", at, chosen_.other.has_value())) {
      if (chosen_.other)
        chosen_.other.reset();
      else
        chosen_.other = chosen_.shown > 0 ? chosen_.shown - 1 : chosen_.shown + 1;
    }
    y_ += button_height(theme_);
    const float gap = px(6), box = px(theme_.present ? 46 : 38);
    const std::size_t row = std::max<std::size_t>(1, static_cast<std::size_t>((width() + gap) / (box + gap)));
    // The last rows matter most.
    const std::size_t first = all.size() > 3 * row ? all.size() - 3 * row : 0;
    for (std::size_t i = first; i < all.size(); ++i) {
      const std::size_t place = i - first;
      const ImVec2 from{left_ + static_cast<float>(place % row) * (box + gap),
                        y_ + static_cast<float>(place / row) * (box + gap)};
      const ImVec2 to{from.x + box, from.y + box};
      const bool on = i == chosen_.shown, other = chosen_.other && i == *chosen_.other;
      frame_.paint.fill(from, to, on ? c_.accent : hovered(frame_, from, to) ? c_.hover : c_.paper, px(6));
      frame_.paint.outline(from, to, other ? c_.accent : c_.line, px(other ? 3 : 1), px(6));
      frame_.paint.text(theme_.body, {(from.x + to.x) / 2, (from.y + to.y) / 2 - px(2)}, on ? c_.on_accent : c_.ink,
                        fmt::format("{}", i + 1), {0.5F, 0.5F});
      // The share of the points that it earned.
      const Result& r = all[i];
      if (r.max > 0) {
        const auto part = static_cast<float>(std::clamp(r.points / r.max, 0.0, 1.0));
        const float x = from.x + px(6), length = box - px(12), bar = to.y - px(7);
        frame_.paint.fill({x, bar}, {x + length, bar + px(3)}, on ? faded(c_.on_accent, 0.35F) : c_.line, px(1.5F));
        frame_.paint.fill({x, bar}, {x + length * part, bar + px(3)}, on ? c_.on_accent : c_.passed, px(1.5F));
      }
      if (clicked(frame_, fmt::format("button/attempt{}", i + 1), from, to)) {
        if (frame_.interactive && ImGui::GetIO().KeyShift && i != chosen_.shown)
          chosen_.other = i;
        else if (i != chosen_.shown) {
          if (chosen_.other) chosen_.other = chosen_.shown;
          chosen_.shown = i;
        }
      }
    }
    y_ += std::ceil(static_cast<float>(all.size() - first) / static_cast<float>(row)) * (box + gap) + px(6);
  }

  // Without tasks the panel lists the ceilings with their spread.
  void roofs() {
    y_ += px(14);
    for (const Ceiling& c : scene_.ceilings) {
      frame_.paint.text(theme_.body, {left_, y_}, c_.ink, fitted(theme_.body, c.name, width() * 0.66F));
      frame_.paint.text(theme_.strong, {right_, y_}, c_.ink, si(c.value, c.unit), {1, 0});
      y_ += theme_.body.size + px(4);
      if (c.low && c.high)
        frame_.paint.text(theme_.small, {right_, y_}, c_.muted,
                          fmt::format("{} to {}", si(*c.low, ""), si(*c.high, c.unit)), {1, 0});
      y_ += theme_.small.size + px(12);
    }
  }

  void score() {
    const Result& r = scene_.result;
    y_ += px(8);
    if (r.max <= 0) return;
    const auto points = points_text(r.points);
    frame_.paint.text(theme_.figure, {left_, y_}, c_.ink, points);
    frame_.log.value("score", r.points);
    const float base = y_ + theme_.figure.size;
    frame_.paint.text(theme_.body, {left_ + text_size(theme_.figure, points).x + px(10), base - px(5)}, c_.muted,
                      fmt::format("of {} points", points_text(r.max)), {0, 1});
    chip(frame_, r.outcome, status_colour(r.outcome), {right_, base - px(7)});
    y_ = base + px(12);
    const auto part = static_cast<float>(std::clamp(r.points / r.max, 0.0, 1.0));
    frame_.paint.fill({left_, y_}, {right_, y_ + px(10)}, c_.line, px(5));
    if (part > 0) frame_.paint.fill({left_, y_}, {left_ + part * width(), y_ + px(10)}, c_.accent, px(5));
    y_ += px(28);
  }

  void task(std::size_t index) {
    const float top = y_;
    Nowhere nowhere;
    LayoutLog ignored;
    Frame measuring{nowhere, theme_, ignored, frame_.from, frame_.to, false};
    task_body(measuring, index);
    const float bottom = y_;
    y_ = top;
    const Task& t = scene_.result.tasks[index];
    const ImVec2 from{left_, top}, to{right_, bottom};
    card(frame_, from, to, px(8));
    if (t.id == chosen_.task) frame_.paint.outline(from, to, c_.accent, px(2), px(8));
    if (t.status == "failed")
      frame_.paint.fill({left_, top + px(8)}, {left_ + px(5), bottom - px(8)}, c_.failed, px(2));
    task_body(frame_, index);
    if (clicked(frame_, "card/" + t.id, from, to)) chosen_.task = chosen_.task.empty() ? t.id : "";
    y_ = bottom + px(14);
  }

  void task_body(Frame& frame, std::size_t index) {
    const Task& t = scene_.result.tasks[index];
    const Dot* dot = scene_.dot(chosen_.shown, t.id);
    const float inner = left_ + px(22), edge = right_ - px(16), wrap = edge - inner;
    y_ += px(14);
    const ImVec2 mark{inner + px(8), y_ + theme_.heading.size / 2};
    const ImU32 colour = dot ? c_.of(dot->series) : c_.line;
    if (dot && dot->point.basis == Basis::timed)
      frame.paint.circle(mark, px(9), colour, 0);
    else
      frame.paint.circle(mark, px(8), colour, px(3.5F));
    const auto points = t.max > 0 ? fmt::format("{} / {}", points_text(t.points), points_text(t.max)) : std::string();
    const float points_width = text_size(theme_.heading, points).x;
    frame.paint.text(theme_.heading, {edge, y_}, c_.ink, points, {1, 0});
    frame.paint.text(theme_.heading, {inner + px(28), y_}, c_.ink,
                     fitted(theme_.heading, t.id, wrap - px(44) - points_width));
    if (t.max > 0) frame.log.value("points/" + t.id, t.points);
    y_ += theme_.heading.size + px(8);
    const float line = theme_.small.size + px(8), word = text_size(theme_.small, t.status).x + px(34);
    chip(frame, t.status, status_colour(t.status), {edge, y_ + line});
    const float used = paragraph(frame.paint, theme_.body, {inner, y_ + px(1)}, wrap - word, c_.muted, t.title, 2);
    y_ += std::max(line, used) + px(8);
    const auto say = [&](const Type& type, ImU32 ink, const std::string& text) {
      if (text.empty()) return;
      y_ += paragraph(frame.paint, type, {inner, y_}, wrap, ink, text) + px(6);
    };
    const bool alone = scene_.result.tasks.size() == 1 || !chosen_.task.empty();
    const auto message =
        shortened(t.status == "skipped" ? t.reason : t.first_failure, alone ? kAloneMost : kMessageMost);
    say(theme_.small, c_.ink, message);
    frame.log.text("message/" + t.id, message);
    const auto told = dot ? advice(dot->point, t, scene_.roofs) : why_no_point(t, scene_.roofs);
    const auto next = dot ? next_roof(dot->point, scene_.roofs, scene_.ceilings) : std::string();
    say(theme_.small, c_.muted, told);
    say(theme_.small, c_.muted, next);
    const auto passed = dot ? below_the_roof(dot->point, t) : std::string();
    say(theme_.small, c_.muted, passed);
    if (!passed.empty()) frame.log.text("passed/" + t.id, passed);
    frame.log.text("advice/" + t.id, next.empty() ? told : told + " " + next);
    for (const Dot& d : scene_.dots)
      if (d.rival != Rival::none && d.task == t.id && dot && dot->point.seconds && d.point.seconds) {
        const double ratio = *d.point.seconds / *dot->point.seconds;
        frame.log.value(fmt::format("ratio/{}/{}", t.id, d.rival == Rival::vendor ? "vendor" : "reference"), ratio);
        say(theme_.small, c_.ink, fmt::format("{} the speed of {}", times(ratio), d.who));
      }
    y_ += px(8);
  }

  // Compares the shown attempt with the other one, task by task.
  void comparison() {
    const auto& all = scene_.group.attempts;
    const std::size_t a = *chosen_.other, b = chosen_.shown;
    y_ += px(10);
    const float column[] = {left_, left_ + width() * 0.2F, left_ + width() * 0.46F, right_};
    const char* word = scene_.result.steps ? "step" : "attempt";
    for (const auto& id : scene_.group.tasks) {
      if (!chosen_.task.empty() && id != chosen_.task) continue;
      const auto find = [&](const Result& r) -> const Task* {
        for (const Task& t : r.tasks)
          if (t.id == id) return &t;
        return nullptr;
      };
      const auto lines = differences(scene_.dot(a, id), scene_.dot(b, id), find(all[a]), find(all[b]));
      if (lines.empty()) continue;
      const float row = theme_.small.size + px(9), pad = px(14);
      const float height = pad * 2 + theme_.heading.size + px(8) + row * static_cast<float>(lines.size() + 1);
      card(frame_, {left_ - px(8), y_}, {right_ + px(8), y_ + height}, px(8));
      frame_.log.box("compare/" + id, {left_, y_}, {right_, y_ + height});
      float y = y_ + pad;
      frame_.paint.circle({left_ + px(12), y + theme_.heading.size / 2}, px(8), c_.of(scene_.group.series(id)), 0);
      frame_.paint.text(theme_.heading, {left_ + px(30), y}, c_.ink, fitted(theme_.heading, id, width() - px(40)));
      y += theme_.heading.size + px(8);
      frame_.paint.text(theme_.small, {column[1], y}, c_.muted, fmt::format("{} {}", word, a + 1));
      frame_.paint.text(theme_.small, {column[2], y}, c_.muted, fmt::format("{} {}", word, b + 1));
      frame_.paint.text(theme_.small, {column[3] - px(6), y}, c_.muted, "change", {1, 0});
      for (const Difference& d : lines) {
        y += row;
        frame_.paint.text(theme_.small, {column[0] + px(4), y}, c_.muted, d.what);
        frame_.paint.text(theme_.small, {column[1], y}, c_.ink,
                          fitted(theme_.small, d.a, column[2] - column[1] - px(8)));
        frame_.paint.text(theme_.small, {column[2], y}, c_.ink, fitted(theme_.small, d.b, width() * 0.26F));
        const auto change =
            d.better == 0 ? d.change : fmt::format("{} {}", d.change, d.better > 0 ? "\u25B2" : "\u25BC");
        frame_.paint.text(theme_.small, {column[3] - px(6), y},
                          d.better > 0   ? c_.passed
                          : d.better < 0 ? c_.failed
                                         : c_.muted,
                          fitted(theme_.small, change, width() * 0.28F), {1, 0});
        frame_.log.text(fmt::format("compare/{}/{}", id, d.what), fmt::format("{} {} {}", d.a, d.b, change));
      }
      y_ += height + px(14);
    }
    frame_.paint.text(theme_.small, {left_, y_}, c_.muted, "\u25B2 better   \u25BC worse");
    y_ += theme_.small.size;
  }

  Frame& frame_;
  const Scene& scene_;
  Chosen& chosen_;
  const Theme& theme_;
  const Palette& c_;
  float left_, right_, y_, top_;
};

}  // namespace

float draw_side_panel(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to, float scroll) {
  return Panel(frame, scene, chosen, from, to, scroll).draw();
}

}  // namespace ridge::viz
