#include "progress/progress_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "progress/results_folder.hpp"

namespace ridge::viz {
namespace {

constexpr double kBetweenLooks = 1;  // seconds
constexpr std::uint64_t kFresh = 8;  // polls for which a result counts as new

std::string points_of(double v) { return fmt::format("{:g}", std::round(v * 10) / 10); }

// "01_coalescing" -> "01"
std::string short_name(const std::string& lab) { return lab.substr(0, lab.find('_')); }

// "2026-11-21T03:04:05Z" -> "11-21 03:04"
std::string short_time(const std::string& time) {
  return time.size() < 16 ? time : time.substr(5, 5) + " " + time.substr(11, 5);
}

// An id in one line, or where that is too wide in two, broken behind a `_`: "sgemm_" and "shared".
std::vector<std::string> in_two(const Type& type, const std::string& id, float width) {
  if (text_size(type, id).x <= width) return {id};
  for (std::size_t at = id.rfind('_'); at != std::string::npos && at > 0; at = id.rfind('_', at - 1))
    if (at + 1 < id.size() && text_size(type, id.substr(0, at + 1)).x <= width)
      return {id.substr(0, at + 1), id.substr(at + 1)};
  return {id};
}

class ProgressView : public View {
 public:
  const char* id() const override { return "progress"; }
  std::string title() const override { return live_ ? "Live" : "Progress"; }
  bool takes(FileKind kind) const override { return kind == FileKind::folder; }
  bool empty() const override { return folder_.empty(); }

  void open(const Source& source) override {
    folder_.add(source.path);
    folder_.look();
    students_ = folder_.students();
    if (students_.empty() && !live_ && !expect_)
      throw OpenError(
          fmt::format("cannot open '{}': there is no result in it\n  try: --live follows a folder that is still empty",
                      source.path.string()));
    next_ = 0;
  }

  bool set(const std::string& key, const std::string& value) override {
    if (key == "live") return live_ = expect_ = value != "0", true;
    if (key == "student") {
      const auto at =
          std::find_if(students_.begin(), students_.end(), [&](const auto& s) { return s.student == value; });
      if (at == students_.end()) return false;
      chosen_ = value;
      return true;
    }
    return false;
  }

  double wake_after() const override { return live_ ? std::max(0.05, next_ - ImGui::GetTime()) : kNever; }

  std::vector<std::string> notes() const override { return folder_.notes(); }
  std::vector<std::pair<std::string, std::string>> keys() const override {
    return {{"L", "follow the folder, or stop"},
            {"R", "look again now"},
            {"Backspace", "from a student to the leaderboard"},
            {"click", "an attempt opens in the roofline, with its requests in the warp view"}};
  }
  std::optional<Wish> take_wish() override { return std::exchange(wish_, std::nullopt); }

  void draw(Frame& f) override {
    if (f.interactive) {
      if (key_pressed('L', false)) live_ = !live_;
      if (key_pressed(ImGuiKey_Backspace, false)) chosen_.clear();
      if (key_pressed('R', false) || (live_ && ImGui::GetTime() >= next_)) {
        if (folder_.look()) students_ = folder_.students();
        next_ = ImGui::GetTime() + kBetweenLooks;
      }
      scroll_ = std::max(0.0F, scroll_ - 40 * f.theme.scale * wheel_over(f.from, f.to));
    }
    const Theme& t = f.theme;
    const float margin = t.px(18);
    const ImVec2 from{f.from.x + margin, f.from.y + margin}, to{f.to.x - margin, f.to.y - margin};
    const StudentProgress* s = shown();
    draw_title(f, from, to.x, s);
    const ImVec2 a{from.x, from.y + t.title.size + t.px(16)};
    if (students_.empty())
      draw_waiting(f, a, to);
    else if (s)
      draw_student(f, a, to, *s);
    else
      draw_board(f, a, to);
  }

 private:
  const StudentProgress* shown() const {
    for (const auto& s : students_)
      if (s.student == chosen_) return &s;
    return students_.size() == 1 ? &students_.front() : nullptr;
  }

  void draw_title(Frame& f, ImVec2 at, float right, const StudentProgress* s) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    if (s && students_.size() > 1) {
      if (button(f, "button/back", "< All", at)) chosen_.clear();
      at.x += t.px(8);
    }
    const std::string title = s ? s->name : !students_.empty() ? "Leaderboard" : live_ ? "Live" : "Progress";
    f.paint.text(t.title, at, c.ink, fitted(t.title, title, (right - at.x) * 0.6F));
    std::string about = s ? fmt::format("{} lab{}, {} of {} points", s->labs.size(), s->labs.size() == 1 ? "" : "s",
                                        points_of(s->points), points_of(s->max))
                        : students_.empty() ? ""
                                            : fmt::format("{} students", students_.size());
    const float x = at.x + text_size(t.title, fitted(t.title, title, (right - at.x) * 0.6F)).x + t.px(18);
    f.paint.text(t.small, {x, at.y + t.title.size * 0.42F}, c.muted, about);
    if (live_) {
      // The dot means that the view follows the folder.
      const std::string words = "live";
      const float w = text_size(t.strong, words).x;
      f.paint.circle({right - w - t.px(18), at.y + t.title.size / 2}, t.px(7), c.failed);
      f.paint.text(t.strong, {right, at.y + t.title.size / 2}, c.ink, words, {1, 0.5F});
    }
  }

  void draw_waiting(Frame& f, ImVec2 from, ImVec2 to) {
    const Theme& t = f.theme;
    card(f, from, to, t.px(8));
    const ImVec2 middle{(from.x + to.x) / 2, (from.y + to.y) / 2 - t.px(30)};
    const bool none = folder_.roots().empty();
    f.paint.text(t.heading, middle, t.colours.ink,
                 none ? "No folder of results is open" : "Waiting for the first result", {0.5F, 1});
    if (none) {
      f.paint.text(
          t.body, {middle.x, middle.y + t.px(14)}, t.colours.muted,
          fitted(t.body, "Drop a folder here, or name it: ./ridge viz work/.ridge/results", to.x - from.x - t.px(60)),
          {0.5F, 0});
      return;
    }
    std::string where;
    for (const auto& r : folder_.roots()) where += (where.empty() ? "" : ", ") + r.filename().string();
    f.paint.text(t.body, {middle.x, middle.y + t.px(14)}, t.colours.muted,
                 fitted(t.body, "in " + where, to.x - from.x - t.px(60)), {0.5F, 0});
  }

  // --- all students

  void draw_board(Frame& f, ImVec2 from, ImVec2 to) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    card(f, from, to, t.px(8));
    std::vector<std::string> labs;
    for (const auto& s : students_)
      for (const auto& l : s.labs)
        if (std::find(labs.begin(), labs.end(), l.lab) == labs.end()) labs.push_back(l.lab);
    std::sort(labs.begin(), labs.end());
    const float pad = t.px(20), head = t.small.size + t.px(26);
    const float rank = from.x + pad + text_size(t.heading, "000").x, name = rank + t.px(18);
    const float total = to.x - pad, cells_end = total - text_size(t.heading, "0000.0").x - t.px(24);
    const float cells = name + (cells_end - name) * 0.3F;
    const float step = (cells_end - cells) / static_cast<float>(std::max<std::size_t>(1, labs.size()));
    f.paint.text(t.small, {name, from.y + t.px(14)}, c.muted, "student");
    f.paint.text(t.small, {total, from.y + t.px(14)}, c.muted, "points", {1, 0});
    for (std::size_t i = 0; i < labs.size(); ++i)
      f.paint.text(t.small, {cells + step * (static_cast<float>(i) + 0.5F), from.y + t.px(14)}, c.muted,
                   step > t.px(150) ? fitted(t.small, labs[i], step - t.px(8)) : short_name(labs[i]), {0.5F, 0});
    const float top = from.y + head, row = std::round(std::max(t.heading.size + t.px(20), t.px(50)));
    f.paint.line({from.x, top - t.px(4)}, {to.x, top - t.px(4)}, c.line, 1);
    const float all = row * static_cast<float>(students_.size());
    scroll_ = std::clamp(scroll_, 0.0F, std::max(0.0F, all - (to.y - top - t.px(8))));
    f.paint.push_clip({from.x, top}, {to.x, to.y - t.px(4)});
    std::size_t place = 0;
    for (std::size_t i = 0; i < students_.size(); ++i) {
      const StudentProgress& s = students_[i];
      if (i == 0 || s.points != students_[i - 1].points) place = i + 1;
      const ImVec2 a{from.x + 1, top + row * static_cast<float>(i) - scroll_}, b{to.x - 1, a.y + row};
      if (b.y < top || a.y > to.y) continue;
      const bool fresh = live_ && s.last_seen > 1 && s.last_seen + kFresh > folder_.looks();
      if (fresh) f.paint.fill(a, b, c.selection, 0);
      if (hovered(f, a, b)) f.paint.fill(a, b, c.hover, 0);
      const float middle = (a.y + b.y) / 2;
      f.paint.text(t.heading, {rank, middle}, place <= 3 ? c.ink : c.muted, fmt::format("{}", place), {1, 0.5F});
      f.paint.text(place <= 3 ? t.strong : t.body, {name, middle}, c.ink,
                   fitted(t.body, s.name, cells - name - t.px(60)), {0, 0.5F});
      if (fresh) f.paint.text(t.small, {cells - t.px(12), middle}, c.accent, "new", {1, 0.5F});
      for (const LabProgress& l : s.labs) {
        const auto at = static_cast<float>(std::find(labs.begin(), labs.end(), l.lab) - labs.begin());
        const ImVec2 p{cells + step * at + t.px(4), middle - t.px(13)},
            q{cells + step * (at + 1) - t.px(4), middle + t.px(13)};
        const auto part = static_cast<float>(std::clamp(l.part(), 0.0, 1.0));
        f.paint.fill(p, q, c.line_faint, t.px(4));
        if (part > 0)
          f.paint.fill(p, {p.x + (q.x - p.x) * part, q.y}, part >= 1 ? c.passed : faded(c.accent, 0.55F), t.px(4));
        f.paint.text(t.small, {(p.x + q.x) / 2, middle}, part >= 1 ? c.on_accent : c.ink, points_of(l.points),
                     {0.5F, 0.5F});
        f.log.value(fmt::format("best/{}/{}", s.student, l.lab), l.points);
      }
      f.paint.text(t.heading, {total, middle}, c.ink, points_of(s.points), {1, 0.5F});
      f.paint.line({from.x + pad, b.y}, {to.x - pad, b.y}, c.line_faint, 1);
      f.log.value("points/" + s.student, s.points);
      if (clicked(f, "student/" + s.student, a, b)) chosen_ = s.student, scroll_ = 0;
    }
    f.paint.pop_clip();
  }

  // --- one student

  void draw_student(Frame& f, ImVec2 from, ImVec2 to, const StudentProgress& s) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    const std::string goal = next_goal(s);
    const float band = t.body.size + t.px(28), bottom = to.y - band - t.px(14);
    const float gap = t.px(14),
                wanted = (bottom - from.y + gap) / static_cast<float>(std::max<std::size_t>(1, s.labs.size())) - gap;
    const float row = std::clamp(wanted, t.px(126), t.px(420));
    const float all = (row + gap) * static_cast<float>(s.labs.size()) - gap;
    scroll_ = std::clamp(scroll_, 0.0F, std::max(0.0F, all - (bottom - from.y)));
    f.paint.push_clip(from, {to.x + t.px(4), bottom});
    float y = from.y - scroll_;
    for (const LabProgress& l : s.labs) {
      if (y + row > from.y && y < bottom) draw_lab(f, {from.x, y}, {to.x - t.px(2), y + row}, l);
      y += row + gap;
    }
    f.paint.pop_clip();
    f.paint.fill({from.x, to.y - band}, to, faded(c.accent, 0.12F), t.px(6));
    f.paint.fill({from.x, to.y - band}, {from.x + t.px(5), to.y}, c.accent, t.px(2));
    f.paint.text(t.body, {from.x + t.px(20), to.y - band / 2}, c.ink, fitted(t.body, goal, to.x - from.x - t.px(40)),
                 {0, 0.5F});
    f.log.text("goal", goal);
  }

  void draw_lab(Frame& f, ImVec2 from, ImVec2 to, const LabProgress& l) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    card(f, from, to, t.px(8));
    f.log.box("lab/" + l.lab, from, to);
    f.log.value("best/" + l.lab, l.points);
    const float pad = t.px(20), split = from.x + (to.x - from.x) * 0.44F;
    f.paint.text(
        t.heading, {from.x + pad, from.y + t.px(14)}, c.ink,
        fitted(t.heading, short_name(l.lab) + "  " + (l.title.empty() ? l.lab : l.title), (split - from.x) * 0.66F));
    const std::string best = points_of(l.points), of = " of " + points_of(l.max);
    const float of_width = text_size(t.body, of).x;
    f.paint.text(t.body, {split - pad, from.y + t.px(14) + t.heading.size}, c.muted, of, {1, 1});
    f.paint.text(t.title, {split - pad - of_width, from.y + t.px(17) + t.heading.size},
                 l.part() >= 1 ? c.passed : c.ink, best, {1, 1});
    // The tasks by their best results, each as wide as its points; those that nobody tried are blank.
    const float bar = from.y + t.px(30) + t.heading.size + t.px(14), height = t.px(16);
    double sum = 0;
    for (const AttemptTask& task : l.tasks) sum += task.max;
    sum = std::max(sum, l.max);
    float x = from.x + pad;
    const float width = split - pad - x;
    for (const AttemptTask& task : l.tasks) {
      if (sum <= 0 || task.max <= 0) continue;
      const float w = width * static_cast<float>(task.max / sum);
      const ImVec2 a{x, bar}, b{x + w - t.px(3), bar + height};
      const auto part = static_cast<float>(std::clamp(task.points / task.max, 0.0, 1.0));
      f.paint.fill(a, b, c.line_faint, t.px(3));
      if (part > 0) f.paint.fill(a, {a.x + (b.x - a.x) * part, b.y}, part >= 1 ? c.passed : c.warning, t.px(3));
      const ImU32 ink = task.status == "failed" ? c.failed : c.muted;
      float line = b.y + t.px(4);
      std::string shown;
      for (const std::string& piece : in_two(t.small, task.id, w - t.px(6))) {
        const std::string fits = fitted(t.small, piece, w - t.px(6));
        f.paint.text(t.small, {a.x, line}, ink, fits);
        line += t.small.size * 1.2F;
        shown += fits;
      }
      f.log.text("task/" + l.lab + "/" + task.id, shown);
      x += w;
    }
    draw_attempts(f, {split + pad, from.y + t.px(18)}, {to.x - pad, to.y - t.px(16)}, l);
  }

  // How the lab stood after each attempt, from the first to the last.
  void draw_attempts(Frame& f, ImVec2 from, ImVec2 to, const LabProgress& l) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    const float bottom = to.y - t.small.size - t.px(8), left = from.x + text_size(t.small, "100%").x + t.px(10),
                right = to.x - t.px(12);
    const float top = from.y + t.px(4);
    for (const double part : {0.0, 0.5, 1.0}) {
      const float y = bottom - (bottom - top) * static_cast<float>(part);
      f.paint.line({left, y}, {to.x, y}, part == 1 ? c.passed : c.line_faint, part == 1 ? t.px(2) : 1);
      f.paint.text(t.small, {left - t.px(8), y}, c.muted, fmt::format("{:.0f}%", part * 100), {1, 0.5F});
    }
    const std::size_t n = l.attempts.size();
    const auto at = [&](std::size_t i) {
      const float s = n > 1 ? static_cast<float>(i) / static_cast<float>(n - 1) : 0.5F;
      return ImVec2{left + t.px(14) + (right - left - t.px(14)) * s,
                    bottom - (bottom - top) * static_cast<float>(std::clamp(l.standing[i], 0.0, 1.0))};
    };
    std::vector<ImVec2> path;
    for (std::size_t i = 0; i < n; ++i) path.push_back(at(i));
    if (n > 1) f.paint.polyline(path, c.accent, t.px(2.5F));
    for (std::size_t i = 0; i < n; ++i) {
      const Attempt& a = *l.attempts[i];
      const bool best = &a == l.best;
      const float radius = t.px(best ? 8.0F : n > 60 ? 3.0F : 5.5F);
      const ImVec2 p = path[i];
      const bool fresh = live_ && a.seen > 1 && a.seen + kFresh > folder_.looks();
      if (fresh) f.paint.circle(p, radius + t.px(6), c.selection);
      f.paint.circle(p, radius, best ? (l.standing[i] >= 1 ? c.passed : c.accent) : c.paper);
      f.paint.circle(p, radius, l.standing[i] >= 1 ? c.passed : c.accent, t.px(2));
      const ImVec2 from_box{p.x - radius - t.px(3), p.y - radius - t.px(3)},
          to_box{p.x + radius + t.px(3), p.y + radius + t.px(3)};
      if (hovered(f, from_box, to_box))
        tooltip(f,
                fmt::format("attempt {} of {}, {}: {} of {} points, {}; the lab then stood at {:.0f}%. Click: open it",
                            i + 1, n, short_time(a.time), points_of(a.points), points_of(a.max), a.mode,
                            100 * l.standing[i]));
      if (clicked(f, "attempt/" + l.lab + "/" + a.attempt, from_box, to_box)) wish_for(a);
    }
    const std::string first = short_time(l.attempts.front()->time), last = short_time(l.attempts.back()->time);
    f.paint.text(t.small, {left, to.y}, c.muted, n > 1 ? first : "", {0, 1});
    f.paint.text(t.small, {to.x, to.y}, c.muted, n > 1 ? last : first, {1, 1});
    f.paint.text(t.small, {(left + to.x) / 2, to.y}, c.muted, n == 1 ? "1 attempt" : fmt::format("{} attempts", n),
                 {0.5F, 1});
  }

  // Opens the attempt and the recorded requests of the task with the most missing points.
  void wish_for(const Attempt& a) {
    Wish w;
    w.view = "roofline";
    double most = -1;
    std::filesystem::path warp;
    for (const AttemptTask& task : a.tasks) {
      if (task.id.find('/') != std::string::npos) continue;
      const auto file = a.file.parent_path() / (a.attempt + "." + task.id + ".warp.json");
      std::error_code ignored;
      if (a.attempt.find('/') == std::string::npos && task.max - task.points > most &&
          std::filesystem::exists(file, ignored))
        most = task.max - task.points, warp = file;
    }
    if (!warp.empty()) w.open.push_back(warp);
    w.open.push_back(a.file);
    wish_ = std::move(w);
  }

  ResultsFolder folder_;
  std::vector<StudentProgress> students_;
  std::string chosen_;
  std::optional<Wish> wish_;
  bool live_ = false, expect_ = false;
  double next_ = 0;
  float scroll_ = 0;
};

}  // namespace

std::unique_ptr<View> make_progress_view() { return std::make_unique<ProgressView>(); }

}  // namespace ridge::viz
