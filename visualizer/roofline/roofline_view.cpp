#include "roofline/roofline_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "draw_text.hpp"
#include "input.hpp"
#include "roofline/label_layout.hpp"
#include "roofline/plot_axes.hpp"
#include "roofline/roof_lines.hpp"
#include "roofline/side_panel.hpp"

namespace ridge::viz {
namespace {

constexpr float kRadius = 11;
constexpr float kRing = 4;  // width of a hollow point's line

class Plotter {
 public:
  Plotter(const Scene& scene, const Theme& theme, ImVec2 from, ImVec2 to, LayoutLog& log)
      : scene_(scene),
        theme_(theme),
        log_(log),
        list_(ImGui::GetWindowDrawList()),
        plot_(make_plot(theme, from, {to.x, to.y - theme.px(40)}, extent_of(scene.points, scene.result.ceilings))),
        legend_y_(to.y - theme.px(18)) {}

  void draw() {
    log_.box("plot", plot_.from, plot_.to);
    log_.axis("x", plot_.x.low, plot_.x.high, plot_.x.pixel_low, plot_.x.pixel_high);
    log_.axis("y", plot_.y.low, plot_.y.high, plot_.y.pixel_low, plot_.y.pixel_high);
    list_->PushClipRect(plot_.from, plot_.to, true);
    draw_ground(list_, theme_, plot_, scene_.roofs);
    draw_grid(list_, theme_, plot_);
    draw_regions(list_, theme_, plot_, scene_.roofs, keep_clear_);
    draw_roofs(list_, theme_, plot_, scene_.result.ceilings, marks(), keep_clear_);
    for (const TaskPoint& p : scene_.points) draw_arrow(p);
    for (const TaskPoint& p : scene_.points) draw_point(p);
    draw_labels();
    list_->PopClipRect();
    const bool mixed = scene_.mixed_units();
    const auto unit = mixed || scene_.points.empty() ? std::string("operation") : scene_.points.front().unit;
    draw_axis_labels(list_, theme_, plot_, unit, mixed ? "the unit stands beside each point" : "");
    draw_legend();
    tooltip();
  }

 private:
  float px(float v) const { return theme_.px(v); }

  // Points that lie on one another are drawn as nested rings, the later ones inside, so that each is seen.
  float radius(const TaskPoint& p) const {
    int inside = 0;
    for (const TaskPoint* later = &p + 1; later <= &scene_.points.back(); ++later)
      inside += apart(plot_.at(p.at), plot_.at(later->at)) < px(kRadius);
    return px(kRadius + 8 * static_cast<float>(inside));
  }

  static float apart(ImVec2 a, ImVec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

  static Box around(ImVec2 at, float half) { return {at.x - half, at.y - half, at.x + half, at.y + half}; }

  std::vector<Box> marks() const {
    std::vector<Box> boxes;
    for (const TaskPoint& p : scene_.points) {
      boxes.push_back(around(plot_.at(p.at), radius(p) + px(2 * kRing)));
      if (p.ideal) boxes.push_back(around(plot_.at(*p.ideal), px(9)));
    }
    return boxes;
  }

  // From a counted point to where it would be at the ideal traffic: bowed, so that it does not hide on the
  // roof.
  void draw_arrow(const TaskPoint& p) {
    if (!p.ideal) return;
    const ImVec2 a = plot_.at(p.at), b = plot_.at(*p.ideal);
    const float length = apart(a, b);
    if (length < px(2 * kRadius + 16)) return;  // no way to go worth showing
    const ImU32 colour = theme_.colours.of(p.task);
    const float bow = std::min(length * 0.22F, px(60)) + px(10) * static_cast<float>(p.task % 3);
    const ImVec2 normal{-(b.y - a.y) / length, (b.x - a.x) / length};  // points below the roof
    const ImVec2 middle{(a.x + b.x) / 2 + normal.x * bow, (a.y + b.y) / 2 + normal.y * bow};
    // The point of the curve at t; with two parameters, the control point of its part from t to u.
    const auto blend = [&](float t, float u) -> ImVec2 {
      const float ka = (1 - t) * (1 - u), km = t * (1 - u) + u * (1 - t), kb = t * u;
      return {ka * a.x + km * middle.x + kb * b.x, ka * a.y + km * middle.y + kb * b.y};
    };
    const float start = px(kRadius + 3) / length, stop = 1 - px(9) / length;
    const ImVec2 tip = blend(stop, stop), bend = blend(start, stop);
    list_->AddBezierQuadratic(blend(start, start), bend, tip, colour, px(2.5F), 32);
    for (int i = 0; i < 8; ++i) {
      const float t = static_cast<float>(i) / 8, u = static_cast<float>(i + 1) / 8;
      const ImVec2 from = blend(t, t), to = blend(u, u);
      keep_clear_.lines.push_back({from.x, from.y, to.x, to.y});
    }
    const float run = apart(tip, bend);
    const ImVec2 d{(tip.x - bend.x) / run, (tip.y - bend.y) / run};
    const float h = px(13), w = px(6);
    list_->AddTriangleFilled({tip.x + d.x * px(3), tip.y + d.y * px(3)},
                             {tip.x - d.x * h - d.y * w, tip.y - d.y * h + d.x * w},
                             {tip.x - d.x * h + d.y * w, tip.y - d.y * h - d.x * w}, colour);
    list_->AddCircleFilled(b, px(5), colour);
    log_.point("ideal/" + id(p), b, px(5), colour, true);
    keep_clear_.boxes.push_back(around(b, px(7)));
  }

  void draw_point(const TaskPoint& p) {
    const ImVec2 at = plot_.at(p.at);
    const bool filled = p.basis == Basis::timed;
    const ImU32 colour = theme_.colours.of(p.task);
    const float r = radius(p);
    list_->AddCircleFilled(at, r + px(kRing),
                           theme_.colours.paper);  // a rim sets it off the roof and its neighbours
    if (filled)
      list_->AddCircleFilled(at, r + px(kRing) / 2, colour);
    else
      list_->AddCircle(at, r, colour, 0, px(kRing));
    log_.point("point/" + id(p), at, r, colour, filled);
    keep_clear_.boxes.push_back(around(at, r + px(kRing)));
  }

  std::string id(const TaskPoint& p) const { return scene_.result.tasks[p.task].id; }

  std::string label(const TaskPoint& p) const { return fitted(theme_.strong, id(p), px(300)); }

  std::string second_line(const TaskPoint& p) const {
    auto text = p.fraction ? fraction_text(p) + " of the roof" : si(p.at.rate, p.unit + "/s");
    return scene_.mixed_units() ? fmt::format("{} ({})", text, p.unit) : text;
  }

  void draw_labels() {
    std::vector<LabelRequest> requests;
    const ImVec2 pad{px(12), px(7)};
    for (const TaskPoint& p : scene_.points) {
      const ImVec2 at = plot_.at(p.at), a = text_size(theme_.strong, label(p)),
                   b = text_size(theme_.small, second_line(p));
      // The margin of 3 px keeps cards from touching.
      requests.push_back({at.x, at.y, std::max(a.x, b.x) + 2 * pad.x + px(9), a.y + b.y + 2 * pad.y + px(3)});
    }
    const Box bounds{plot_.from.x + px(6), plot_.from.y + px(6), plot_.to.x - px(6), plot_.to.y - px(6)};
    const auto boxes = place_labels(requests, keep_clear_, bounds, px(kRadius + 12));
    for (std::size_t i = 0; i < boxes.size(); ++i) draw_leader(scene_.points[i], boxes[i]);
    for (std::size_t i = 0; i < boxes.size(); ++i) draw_card(scene_.points[i], boxes[i], pad);
  }

  void draw_leader(const TaskPoint& p, const Box& box) {
    const ImVec2 at = plot_.at(p.at);
    const ImVec2 near{std::clamp(at.x, box.x0, box.x1), std::clamp(at.y, box.y0, box.y1)};
    const float away = apart(near, at), edge = radius(p) + px(kRing);
    if (away > edge)
      list_->AddLine({at.x + (near.x - at.x) * edge / away, at.y + (near.y - at.y) * edge / away}, near,
                     theme_.colours.of(p.task), px(1.5F));
  }

  void draw_card(const TaskPoint& p, const Box& box, ImVec2 pad) {
    const ImU32 colour = theme_.colours.of(p.task);
    const ImVec2 from{std::round(box.x0), std::round(box.y0)};
    const ImVec2 to{std::round(box.x1) - px(3), std::round(box.y1) - px(3)};
    list_->AddRectFilled({from.x, from.y + px(2)}, {to.x, to.y + px(2)}, IM_COL32(27, 34, 44, 22), px(6));
    list_->AddRectFilled(from, to, theme_.colours.paper, px(6));
    list_->AddRect(from, to, theme_.colours.line, px(6));
    list_->AddRectFilled({from.x, from.y}, {from.x + px(5), to.y}, colour, px(2));
    const float x = from.x + px(5) + pad.x;
    draw_text(list_, theme_.strong, {x, from.y + pad.y}, theme_.colours.ink, label(p));
    draw_text(list_, theme_.small, {x, to.y - pad.y}, theme_.colours.muted, second_line(p), {0, 1});
    log_.box("label/" + id(p), from, to);
  }

  void draw_legend() {
    float x = plot_.from.x;
    const auto mark = [&](Basis basis, const char* text) {
      const auto has = [&](const TaskPoint& p) { return p.basis == basis; };
      if (std::none_of(scene_.points.begin(), scene_.points.end(), has)) return;
      const ImVec2 at{x + px(8), legend_y_};
      if (basis == Basis::timed)
        list_->AddCircleFilled(at, px(8), theme_.colours.muted);
      else
        list_->AddCircle(at, px(7), theme_.colours.muted, 0, px(3));
      draw_text(list_, theme_.small, {x + px(26), legend_y_}, theme_.colours.muted, text, {0, 0.5F});
      x += px(26 + 30) + text_size(theme_.small, text).x;
    };
    mark(Basis::timed, "timed: the rate that was measured");
    mark(Basis::counted, "counted: the best rate this traffic allows; arrow: with the least traffic");
  }

  void tooltip() {
    if (!ImGui::IsWindowHovered()) return;
    const ImVec2 mouse = ImGui::GetMousePos();
    for (auto found = scene_.points.rbegin(); found != scene_.points.rend(); ++found) {  // innermost first
      const TaskPoint& p = *found;
      const ImVec2 at = plot_.at(p.at);
      if (apart(mouse, at) > radius(p) + px(4)) continue;
      const Task& task = scene_.result.tasks[p.task];
      const auto text =
          fmt::format("{}\n{}\n{} per byte\n{}", task.title.empty() ? task.id : task.title,
                      si(p.at.rate, p.unit + "/s"), si(p.at.intensity, p.unit), advice(p, task, scene_.roofs));
      ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(14), px(10)});
      ImGui::PushStyleColor(ImGuiCol_Text, theme_.colours.paper);
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(px(460));
      ImGui::TextUnformatted(text.c_str());
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
      ImGui::PopStyleColor();
      ImGui::PopStyleVar();
      return;
    }
  }

  const Scene& scene_;
  const Theme& theme_;
  LayoutLog& log_;
  ImDrawList* list_;
  Plot plot_;
  float legend_y_;
  Obstacles keep_clear_;
};

}  // namespace

Scene::Scene(const Result& r) : result(r), roofs(roofs_of(r.ceilings)) {
  for (std::size_t i = 0; i < r.tasks.size(); ++i)
    if (auto point = place(r.tasks[i], i, roofs)) points.push_back(std::move(*point));
}

bool Scene::mixed_units() const {
  return std::any_of(points.begin(), points.end(), [&](const TaskPoint& p) { return p.unit != points[0].unit; });
}

void draw_roofline(const Scene& scene, const Theme& theme, ImVec2 from, ImVec2 to, LayoutLog& log) {
  Plotter(scene, theme, from, to, log).draw();
}

namespace {

class RooflineView : public View {
 public:
  const char* id() const override { return "roofline"; }
  std::string title() const override { return "Roofline"; }
  bool takes(FileKind kind) const override { return kind == FileKind::result; }
  void open(const Source& source) override {
    results_.push_back(read_result(source.path));
    choice_.count = results_.size();
    choice_.shown = results_.size() - 1;
  }
  bool empty() const override { return results_.empty(); }
  void draw(Frame& frame) override {
    if (results_.empty()) return;
    const Theme& theme = frame.theme;
    if (key_pressed(ImGuiKey_LeftArrow) && choice_.shown > 0) --choice_.shown;
    if (key_pressed(ImGuiKey_RightArrow) && choice_.shown + 1 < choice_.count) ++choice_.shown;
    const Scene scene(results_[choice_.shown]);
    const float panel = std::min(theme.px(500), (frame.to.x - frame.from.x) * 0.45F);
    draw_roofline(scene, theme, {frame.from.x + theme.px(16), theme.px(14)},
                  {frame.to.x - panel, frame.to.y - theme.px(8)}, frame.log);
    ImGui::SetCursorScreenPos({frame.to.x - panel, frame.from.y});
    ImGui::BeginChild("panel", {panel, frame.to.y - frame.from.y});
    draw_side_panel(scene, theme, choice_, frame.log);
    ImGui::EndChild();
  }

 private:
  std::vector<Result> results_;
  Choice choice_;
};

}  // namespace

std::unique_ptr<View> make_roofline_view() { return std::make_unique<RooflineView>(); }

}  // namespace ridge::viz
