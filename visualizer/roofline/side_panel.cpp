#include "roofline/side_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "draw_text.hpp"

namespace ridge::viz {
namespace {

constexpr std::size_t kTitleMost = 72;     // bytes
constexpr std::size_t kMessageMost = 260;  // bytes of a failed check's message; the report has the rest

std::string points_text(double value) { return fmt::format("{:.{}f}", value, value == std::round(value) ? 0 : 1); }

ImU32 status_colour(const std::string& status, const Palette& c) {
  if (status == "passed") return c.passed;
  if (status == "failed") return c.failed;
  return c.muted;
}

// Draws downwards from the window's top and moves the cursor, so that the window knows its height.
class Panel {
 public:
  Panel(const Scene& scene, const Theme& theme, LayoutLog& log)
      : scene_(scene),
        theme_(theme),
        log_(log),
        list_(ImGui::GetWindowDrawList()),
        origin_(ImGui::GetCursorScreenPos()),
        left_(origin_.x + px(28)),
        right_(origin_.x + ImGui::GetContentRegionAvail().x - px(24)),
        y_(origin_.y + px(26)) {}

  void draw(Choice& choice) {
    draw_head(choice);
    draw_score();
    for (std::size_t i = 0; i < scene_.result.tasks.size(); ++i) draw_task(i);
    ImGui::SetCursorScreenPos(origin_);
    ImGui::Dummy({right_ - origin_.x, y_ - origin_.y + px(10)});
  }

 private:
  float px(float v) const { return theme_.px(v); }
  float width() const { return right_ - left_; }

  void draw_head(Choice& choice) {
    const Result& r = scene_.result;
    if (choice.count > 1) draw_choice(choice);
    y_ += draw_paragraph(list_, theme_.title, {left_, y_}, width(), theme_.colours.ink,
                         shortened(r.title.empty() ? r.lab : r.title, kTitleMost));
    y_ += px(10);
    fact("Lab", r.lab);
    fact("Attempt", r.attempt);
    fact("Backend", r.mode.empty() ? r.backend : fmt::format("{} ({}, {})", r.backend, r.mode, r.standing));
    fact("Device", r.device);
  }

  void fact(const char* name, const std::string& value) {
    if (value.empty()) return;
    const float column = px(96);
    draw_text(list_, theme_.small, {left_, y_}, theme_.colours.muted, name);
    draw_text(list_, theme_.small, {left_ + column, y_}, theme_.colours.ink,
              fitted(theme_.small, value, width() - column));
    y_ += theme_.small.size + px(8);
  }

  void draw_choice(Choice& choice) {
    const float side = ImGui::GetFrameHeight();
    ImGui::SetCursorScreenPos({right_ - 2 * side - px(8), y_});
    if (ImGui::ArrowButton("previous", ImGuiDir_Left) && choice.shown > 0) --choice.shown;
    ImGui::SetCursorScreenPos({right_ - side, y_});
    if (ImGui::ArrowButton("next", ImGuiDir_Right) && choice.shown + 1 < choice.count) ++choice.shown;
    draw_text(list_, theme_.small, {left_, y_ + side / 2}, theme_.colours.muted,
              fmt::format("Result {} of {}", choice.shown + 1, choice.count), {0, 0.5F});
    y_ += side + px(12);
  }

  void draw_score() {
    const Result& r = scene_.result;
    y_ += px(10);
    const auto points = points_text(r.points);
    draw_text(list_, theme_.figure, {left_, y_}, theme_.colours.ink, points);
    const float base = y_ + theme_.figure.size;
    draw_text(list_, theme_.body, {left_ + text_size(theme_.figure, points).x + px(10), base - px(5)},
              theme_.colours.muted, fmt::format("of {} points", points_text(r.max)), {0, 1});
    draw_chip(r.outcome, {right_, base - px(7)});
    y_ = base + px(12);
    const float part = r.max > 0 ? static_cast<float>(std::clamp(r.points / r.max, 0.0, 1.0)) : 0;
    list_->AddRectFilled({left_, y_}, {right_, y_ + px(10)}, theme_.colours.line, px(5));
    if (part > 0) list_->AddRectFilled({left_, y_}, {left_ + part * width(), y_ + px(10)}, theme_.colours.ink, px(5));
    y_ += px(30);
  }

  // A word in its colour, right-aligned with its bottom at `at`: never the colour alone.
  void draw_chip(const std::string& word, ImVec2 at) {
    if (word.empty()) return;
    const ImVec2 size = text_size(theme_.small, word);
    const ImVec2 pad{px(11), px(4)};
    const ImVec2 from{at.x - size.x - 2 * pad.x, at.y - size.y - 2 * pad.y};
    const ImU32 colour = status_colour(word == "build-failed" ? "failed" : word, theme_.colours);
    const float line = px(1.5F);
    const ImVec2 inner{from.x + line, from.y + line}, end{at.x - line, at.y - line};
    list_->AddRectFilled(from, at, colour, px(6));
    list_->AddRectFilled(inner, end, theme_.colours.paper, px(5));
    list_->AddRectFilled(inner, end, faded(colour, 0.14F), px(5));
    draw_text(list_, theme_.small, {from.x + pad.x, from.y + pad.y}, theme_.colours.ink, word);
  }

  void draw_task(std::size_t index) {
    const Task& task = scene_.result.tasks[index];
    const auto found =
        std::find_if(scene_.points.begin(), scene_.points.end(), [&](const TaskPoint& p) { return p.task == index; });
    const TaskPoint* point = found == scene_.points.end() ? nullptr : &*found;

    list_->ChannelsSplit(2);  // the card's ground is drawn when its height is known
    list_->ChannelsSetCurrent(1);
    const float top = y_, inner_left = left_ + px(22), inner_right = right_ - px(16);
    y_ += px(14);
    const ImVec2 dot{inner_left + px(8), y_ + theme_.heading.size / 2};
    if (point && point->basis == Basis::timed)
      list_->AddCircleFilled(dot, px(9), theme_.colours.of(index));
    else
      list_->AddCircle(dot, px(8), point ? theme_.colours.of(index) : theme_.colours.line, 0, px(3.5F));
    const auto points = fmt::format("{} / {}", points_text(task.points), points_text(task.max));
    const float points_width = text_size(theme_.heading, points).x;
    draw_text(list_, theme_.heading, {inner_right, y_}, theme_.colours.ink, points, {1, 0});
    draw_text(list_, theme_.heading, {inner_left + px(28), y_}, theme_.colours.ink,
              fitted(theme_.heading, task.id, inner_right - inner_left - px(44) - points_width));
    y_ += theme_.heading.size + px(8);

    const float line = text_size(theme_.small, task.status).y + px(8);
    draw_chip(task.status, {inner_right, y_ + line});
    draw_text(list_, theme_.body, {inner_left, y_ + line / 2}, theme_.colours.muted,
              fitted(theme_.body, task.title, inner_right - inner_left - px(130)), {0, 0.5F});
    y_ += line + px(8);

    const float wrap = inner_right - inner_left;
    const auto say = [&](const Type& type, ImU32 colour, const std::string& text) {
      if (text.empty()) return;
      y_ += draw_paragraph(list_, type, {inner_left, y_}, wrap, colour, text) + px(6);
    };
    say(theme_.small, theme_.colours.ink,
        shortened(task.status == "skipped" ? task.reason : task.first_failure, kMessageMost));
    say(theme_.small, theme_.colours.muted,
        point ? advice(*point, task, scene_.roofs) : why_no_point(task, scene_.roofs));
    y_ += px(8);

    list_->ChannelsSetCurrent(0);
    list_->AddRectFilled({left_, top}, {right_, y_}, theme_.colours.paper, px(8));
    list_->AddRect({left_, top}, {right_, y_}, theme_.colours.line, px(8));
    if (task.status == "failed")
      list_->AddRectFilled({left_, top + px(8)}, {left_ + px(5), y_ - px(8)}, theme_.colours.failed, px(2));
    list_->ChannelsMerge();
    log_.box("card/" + task.id, {left_, top}, {right_, y_});
    y_ += px(14);
  }

  const Scene& scene_;
  const Theme& theme_;
  LayoutLog& log_;
  ImDrawList* list_;
  ImVec2 origin_;
  float left_, right_, y_;
};

}  // namespace

void draw_side_panel(const Scene& scene, const Theme& theme, Choice& choice, LayoutLog& log) {
  Panel(scene, theme, log).draw(choice);
}

}  // namespace ridge::viz
