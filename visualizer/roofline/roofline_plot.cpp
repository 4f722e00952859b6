#include "roofline/roofline_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "roofline/label_layout.hpp"
#include "roofline/point_clusters.hpp"
#include "roofline/roof_lines.hpp"

namespace ridge::viz {
namespace {

constexpr float kRadius = 11, kSmall = 6;
constexpr float kRing = 4;       // line width of a hollow point, in pixels
constexpr float kSamePlace = 2;  // pixels between points that share a circle
constexpr float kStill = 4;      // pixels that the mouse may move during a click
constexpr double kWheelStep = 0.85;

constexpr float kBetweenNames = 5;  // pixels between the tasks of one card

using Cluster = std::vector<std::size_t>;

float apart(ImVec2 a, ImVec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }
Box around(ImVec2 at, float half) { return {at.x - half, at.y - half, at.x + half, at.y + half}; }

std::vector<TaskPoint> points_of(const std::vector<Dot>& dots) {
  std::vector<TaskPoint> points;
  for (const Dot& d : dots) points.push_back(d.point);
  return points;
}

class Plotter {
 public:
  Plotter(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to)
      : frame_(frame),
        scene_(scene),
        chosen_(chosen),
        theme_(frame.theme),
        plot_(make_plot(theme_, from, {to.x, to.y - theme_.small.size - px(22)},
                        chosen.zoom.value_or(extent_of(points_of(scene.dots), shown_roofs(scene))))),
        legend_y_(to.y - theme_.small.size / 2 - px(8)) {
    for (const Dot& d : scene.dots)
      if (d.rival == Rival::none && d.attempt == chosen.shown && visible(d)) current_.push_back(&d);
    for (const Dot* d : current_) longest_ = std::max(longest_, d->point.seconds.value_or(0));
    std::vector<Pixel> places;
    for (const Dot* d : current_) places.push_back(place_of(*d));
    clusters_ = clusters_of(places, px(kSamePlace));
  }

  void draw() {
    frame_.log.box("plot", plot_.from, plot_.to);
    frame_.log.axis("x", plot_.x.low, plot_.x.high, plot_.x.pixel_low, plot_.x.pixel_high);
    frame_.log.axis("y", plot_.y.low, plot_.y.high, plot_.y.pixel_low, plot_.y.pixel_high);
    frame_.paint.push_clip(plot_.from, plot_.to);
    draw_ground(frame_, plot_, scene_.roofs);
    draw_grid(frame_, plot_);
    const std::vector<Box> drawn = marks();
    draw_regions(frame_, plot_, scene_.roofs, drawn, keep_clear_);
    draw_roofs(frame_, plot_, scene_.roofs, scene_.ceilings, drawn, keep_clear_);
    for (const auto& task : scene_.group.tasks) draw_path(task);
    for (const Dot* d : current_) draw_arrow(*d);
    if (chosen_.levels)
      for (const Dot* d : current_) draw_levels(*d);
    for (const auto& cluster : clusters_) draw_point(cluster);
    for (const Dot& d : scene_.dots)
      if (d.rival != Rival::none && visible(d)) draw_rival(d);
    draw_numbers();
    draw_labels();
    frame_.paint.pop_clip();
    frame_.paint.outline(plot_.from, plot_.to, theme_.colours.line, std::max(1.0F, px(1)));
    const bool mixed = scene_.mixed_units();
    const auto unit = mixed || scene_.dots.empty() ? std::string("operation") : scene_.dots.front().point.unit;
    draw_axis_labels(frame_, plot_, unit, mixed ? "the unit stands beside each point" : "");
    draw_legend();
    if (frame_.interactive) mouse();
  }

 private:
  float px(float v) const { return theme_.px(v); }
  const Palette& colours() const { return theme_.colours; }
  ImU32 colour(const Dot& d) const { return colours().of(d.series); }
  bool visible(const Dot& d) const { return chosen_.task.empty() || d.task == chosen_.task; }
  std::string id(const Dot& d) const { return d.task; }

  // Roofs far above the points would squeeze them, so only the binding compute roof counts for the extent.
  static std::vector<Ceiling> shown_roofs(const Scene& scene) {
    std::vector<Ceiling> out;
    for (const Ceiling& c : scene.ceilings)
      if (c.kind == CeilingKind::bandwidth || !scene.roofs.compute || c.value <= scene.roofs.compute->value * 2.5)
        out.push_back(c);
    std::stable_sort(out.begin(), out.end(), [&](const Ceiling& a, const Ceiling& b) {
      const auto binds = [&](const Ceiling& c) { return scene.roofs.compute && c.id == scene.roofs.compute->id; };
      return binds(a) > binds(b);
    });
    return out;
  }

  Pixel place_of(const Dot& d) const {
    const ImVec2 at = plot_.at(d.point.at);
    return {at.x, at.y};
  }

  const Cluster* cluster_of(const Dot& d) const {
    for (const Cluster& c : clusters_)
      for (const std::size_t i : c)
        if (current_[i] == &d) return &c;
    return nullptr;
  }

  // The area of a point follows its duration; a counted point has none. Tasks at one place share a circle. Circles that
  // overlap are nested, later ones inside, so that each is visible.
  float radius(const Dot& d) const {
    const auto own = [&](const Dot& dot) {
      return dot.point.seconds && longest_ > 0 ? 7 + 6 * static_cast<float>(std::sqrt(*dot.point.seconds / longest_))
                                               : kRadius;
    };
    const Cluster* cluster = cluster_of(d);
    if (cluster == nullptr) return px(own(d));
    float r = cluster->size() > 1 ? kRadius + 2 : 0;
    for (const std::size_t i : *cluster) r = std::max(r, own(*current_[i]));
    int inside = 0;
    for (const Cluster* later = cluster + 1; later < clusters_.data() + clusters_.size(); ++later)
      inside += apart(plot_.at(d.point.at), plot_.at(current_[later->front()]->point.at)) < px(kRadius);
    return px(r + 8 * static_cast<float>(inside));
  }

  // The places of points and arrows: the roofs' labels stay off them.
  std::vector<Box> marks() const {
    std::vector<Box> boxes;
    for (const Dot* d : current_) {
      boxes.push_back(around(plot_.at(d->point.at), radius(*d) + px(2 * kRing)));
      if (d->point.ideal) boxes.push_back(around(plot_.at(*d->point.ideal), px(9)));
      std::vector<Pixel> way;
      for (const ImVec2& p : arrow_way(*d)) way.push_back({p.x, p.y});
      for (const Box& box : boxes_along(way, px(3))) boxes.push_back(box);
    }
    return boxes;
  }

  void arrow_head(ImVec2 tip, ImVec2 d, ImU32 c) {
    const float h = px(12), w = px(6);
    frame_.paint.polygon({tip,
                          {tip.x - d.x * h - d.y * w, tip.y - d.y * h + d.x * w},
                          {tip.x - d.x * h + d.y * w, tip.y - d.y * h - d.x * w}},
                         c);
  }

  // A student's attempts at a task, from first to last.
  void draw_path(const std::string& task) {
    if (!chosen_.task.empty() && task != chosen_.task) return;
    const Dot* before = nullptr;
    for (const Dot& d : scene_.dots) {
      if (d.rival != Rival::none || d.task != task) continue;
      const ImVec2 b = plot_.at(d.point.at);
      const bool current = d.attempt == chosen_.shown;
      if (before) {
        const ImVec2 a = plot_.at(before->point.at);
        const float length = apart(a, b);
        if (length > px(26)) {
          const ImVec2 u{(b.x - a.x) / length, (b.y - a.y) / length};
          const float cut = px(current ? kRadius + 5 : kSmall + 4);
          const ImVec2 tip{b.x - u.x * cut, b.y - u.y * cut};
          frame_.paint.line({a.x + u.x * px(kSmall), a.y + u.y * px(kSmall)},
                            {tip.x - u.x * px(8), tip.y - u.y * px(8)}, faded(colour(d), 0.75F), px(2.5F));
          arrow_head(tip, u, colour(d));
        }
        keep_clear_.lines.push_back({a.x, a.y, b.x, b.y});
      }
      before = &d;
      const bool compared = chosen_.other && d.attempt == *chosen_.other;
      const auto name = fmt::format("attempt/{}/{}", task, d.attempt + 1);
      if (current) {
        frame_.log.box(name, {b.x - px(kSmall), b.y - px(kSmall)}, {b.x + px(kSmall), b.y + px(kSmall)});
        continue;
      }
      const float r = px(compared ? kSmall + 3 : kSmall);
      frame_.paint.circle(b, r + px(2), colours().paper);
      if (d.point.basis == Basis::timed)
        frame_.paint.circle(b, r, colour(d));
      else
        frame_.paint.circle(b, r - px(1), colour(d), px(2.5F));
      if (compared) frame_.paint.circle(b, r + px(4), colours().ink, px(2));
      numbers_.push_back({b, fmt::format("{}", d.attempt + 1)});
      frame_.log.point(name, b, r, colour(d), d.point.basis == Basis::timed);
      keep_clear_.boxes.push_back(around(b, r + px(3)));
    }
  }

  // Numbers beside the dots where there is room: the first and the last get their places before the others.
  void draw_numbers() {
    std::vector<Box> taken;
    const auto draw = [&](const Number& n) {
      const ImVec2 size = text_size(theme_.small, n.text);
      for (const float side : {1.0F, -1.0F}) {
        const float x = n.at.x + side * px(kSmall + 8) - (side < 0 ? size.x : 0), y = n.at.y - size.y / 2;
        const Box box{x - px(2), y, x + size.x + px(2), y + size.y};
        const auto hit = [&](const Box& other) { return overlap_area(box, other) > 0; };
        if (std::any_of(taken.begin(), taken.end(), hit)) continue;
        const auto covered = [&](const Dot* d) {
          return overlap_area(box, around(plot_.at(d->point.at), radius(*d))) > 0;
        };
        if (std::any_of(current_.begin(), current_.end(), covered)) continue;
        notes_.push_back({{x, y}, n.text});
        taken.push_back(box);
        return;
      }
    };
    if (!numbers_.empty()) draw(numbers_.front());
    for (auto n = numbers_.rbegin(); n != numbers_.rend(); ++n)
      if (&*n != &numbers_.front()) draw(*n);
    keep_clear_.boxes.insert(keep_clear_.boxes.end(), taken.begin(), taken.end());
  }

  // A diamond for the vendor's library and a square for the reference solution, in the task's colour with a dark rim.
  void draw_rival(const Dot& d) {
    const ImVec2 c = plot_.at(d.point.at);
    const float r = px(d.rival == Rival::vendor ? 10 : 7);
    const auto shape = [&](float s) {
      return d.rival == Rival::vendor
                 ? std::vector<ImVec2>{{c.x, c.y - s}, {c.x + s, c.y}, {c.x, c.y + s}, {c.x - s, c.y}}
                 : std::vector<ImVec2>{{c.x - s, c.y - s}, {c.x + s, c.y - s}, {c.x + s, c.y + s}, {c.x - s, c.y + s}};
    };
    frame_.paint.polygon(shape(r + px(4)), colours().paper);
    frame_.paint.polygon(shape(r + px(2)), colours().ink);
    frame_.paint.polygon(shape(r - px(1)), colour(d));
    frame_.log.point(fmt::format("{}/{}", d.rival == Rival::vendor ? "vendor" : "reference", d.task), c, r, colour(d),
                     true);
    keep_clear_.boxes.push_back(around(c, r + px(3)));
  }

  // The same operations over the bytes requested from each level, to be compared with that level's roof.
  void draw_levels(const Dot& d) {
    const ImVec2 at = plot_.at(d.point.at);
    struct Tag {
      float x;
      std::string text;
    };
    std::vector<Tag> tags;
    for (const Level level : kLevels) {
      const auto& bytes = d.point.level_bytes[static_cast<std::size_t>(level)];
      if (!bytes) continue;
      const ImVec2 c = plot_.at(d.point.operations / *bytes, d.point.at.rate);
      const float r = px(7);
      frame_.paint.line(at, c, colour(d), px(2));
      frame_.paint.fill({c.x - r, c.y - r}, {c.x + r, c.y + r}, colours().paper, px(2));
      frame_.paint.outline({c.x - r, c.y - r}, {c.x + r, c.y + r}, colour(d), px(3), px(2));
      frame_.log.point(fmt::format("level/{}/{}", d.task, name_of(level)), c, r, colour(d), false);
      frame_.log.value(fmt::format("bytes/{}/{}", d.task, name_of(level)), *bytes);
      keep_clear_.boxes.push_back(around(c, r + px(2)));
      if (!tags.empty() && std::abs(tags.back().x - c.x) < px(40))
        tags.back().text += fmt::format(", {}", name_of(level));
      else
        tags.push_back({c.x, name_of(level)});
    }
    for (const Tag& tag : tags) {
      const ImVec2 size = text_size(theme_.small, tag.text);
      const float y = at.y + px(kRadius + 8);
      notes_.push_back({{tag.x - size.x / 2, y}, tag.text});
      keep_clear_.boxes.push_back({tag.x - size.x / 2, y, tag.x + size.x / 2, y + size.y});
    }
  }

  // An arc from a counted point to its place at the ideal traffic; a straight line would hide on the roof. Empty where
  // there is no such place, or it is too near to show.
  std::vector<ImVec2> arrow_way(const Dot& dot) const {
    const TaskPoint& p = dot.point;
    if (!p.ideal) return {};
    const ImVec2 a = plot_.at(p.at), b = plot_.at(*p.ideal);
    const float length = apart(a, b);
    if (length < px(2 * kRadius + 16)) return {};
    const float bow = std::min(length * 0.22F, px(60)) + px(10) * static_cast<float>(p.task % 3);
    const ImVec2 normal{-(b.y - a.y) / length, (b.x - a.x) / length};  // points away from the roof, downwards
    const ImVec2 middle{(a.x + b.x) / 2 + normal.x * bow, (a.y + b.y) / 2 + normal.y * bow};
    const auto curve = [&](float t) -> ImVec2 {
      const float ka = (1 - t) * (1 - t), km = 2 * t * (1 - t), kb = t * t;
      return {ka * a.x + km * middle.x + kb * b.x, ka * a.y + km * middle.y + kb * b.y};
    };
    const float start = px(kRadius + 3) / length, stop = 1 - px(9) / length;
    std::vector<ImVec2> way;
    for (int i = 0; i <= 24; ++i) way.push_back(curve(start + (stop - start) * static_cast<float>(i) / 24));
    return way;
  }

  void draw_arrow(const Dot& dot) {
    std::vector<ImVec2> way = arrow_way(dot);
    if (way.empty()) return;
    const ImVec2 b = plot_.at(*dot.point.ideal);
    for (std::size_t i = 0; i + 3 < way.size(); i += 3)
      keep_clear_.lines.push_back({way[i].x, way[i].y, way[i + 3].x, way[i + 3].y});
    const ImVec2 tip = way.back(), bend = way[way.size() - 3];
    const float run = std::max(1e-3F, apart(tip, bend));
    way.pop_back();
    frame_.paint.polyline(way, colour(dot), px(2.5F));
    arrow_head({tip.x + (tip.x - bend.x) / run * px(3), tip.y + (tip.y - bend.y) / run * px(3)},
               {(tip.x - bend.x) / run, (tip.y - bend.y) / run}, colour(dot));
    frame_.paint.circle(b, px(5), colour(dot));
    frame_.log.point("ideal/" + id(dot), b, px(5), colour(dot), true);
    keep_clear_.boxes.push_back(around(b, px(7)));
  }

  void draw_point(const Cluster& cluster) {
    const Dot& first = *current_[cluster[0]];
    const ImVec2 at = plot_.at(first.point.at);
    const float r = radius(first);
    frame_.paint.circle(at, r + px(kRing), colours().paper);  // a rim separates it from the roof and its neighbours
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      const Dot& d = *current_[cluster[i]];
      const bool filled = d.point.basis == Basis::timed;
      const auto part = [&](float radius) {
        std::vector<ImVec2> line;
        for (const Pixel& p : arc_of({at.x, at.y}, radius, i, cluster.size(), px(3))) line.push_back({p.x, p.y});
        return line;
      };
      if (cluster.size() == 1 && filled) {
        frame_.paint.circle(at, r + px(kRing) / 2, colour(d));
      } else if (cluster.size() == 1) {
        frame_.paint.circle(at, r, colour(d), px(kRing));
      } else if (filled) {
        std::vector<ImVec2> wedge = part(r + px(kRing) / 2);
        wedge.push_back(at);
        frame_.paint.polygon(wedge, colour(d));
      } else {
        frame_.paint.polyline(part(r), colour(d), px(kRing));
      }
      frame_.log.point("point/" + id(d), at, r, colour(d), filled);
      frame_.log.value("intensity/" + id(d), d.point.at.intensity);
      frame_.log.value("rate/" + id(d), d.point.at.rate);
    }
    keep_clear_.boxes.push_back(around(at, r + px(kRing)));
  }

  std::string label(const Dot& d) const { return fitted(theme_.strong, id(d), px(300)); }

  std::string second_line(const Dot& d) const {
    auto text = d.point.fraction ? fraction_text(d.point) + " of the roof" : si(d.point.at.rate, d.point.unit + "/s");
    return scene_.mixed_units() ? fmt::format("{} ({})", text, d.point.unit) : text;
  }

  // The lines of a cluster's card: a name for each task, then what is said of all, or of each.
  struct CardLine {
    const Dot* dot;
    std::string text;
    bool name;
  };
  std::vector<CardLine> card_lines(const Cluster& cluster) const {
    const auto said = [&](std::size_t i) { return second_line(*current_[i]); };
    const bool same = std::all_of(cluster.begin(), cluster.end(), [&](auto i) { return said(i) == said(cluster[0]); });
    std::vector<CardLine> lines;
    for (const std::size_t i : cluster) {
      lines.push_back({current_[i], label(*current_[i]), true});
      if (!same || i == cluster.back())
        lines.push_back({current_[i], (same && cluster.size() > 1 ? "each " : "") + said(i), false});
    }
    return lines;
  }

  const Type& type_of(const CardLine& line) const { return line.name ? theme_.strong : theme_.small; }

  void draw_labels() {
    std::vector<LabelRequest> requests;
    const ImVec2 pad{px(12), px(7)};
    const Box inside{plot_.from.x, plot_.from.y, plot_.to.x, plot_.to.y};
    std::vector<const Cluster*> labelled;
    for (const Cluster& cluster : clusters_) {
      const ImVec2 at = plot_.at(current_[cluster[0]]->point.at);
      if (overlap_area(inside, around(at, 1)) <= 0) continue;  // the zoom excludes it
      // The margin of 3 px keeps cards from touching.
      ImVec2 size{2 * pad.x + px(9), 2 * pad.y + px(3)};
      float widest = 0;
      for (const CardLine& line : card_lines(cluster)) {
        const ImVec2 text = text_size(type_of(line), line.text);
        widest = std::max(widest, text.x);
        size.y += text.y + (line.name && line.dot != current_[cluster[0]] ? px(kBetweenNames) : 0);
      }
      requests.push_back({at.x, at.y, size.x + widest, size.y});
      labelled.push_back(&cluster);
    }
    const Box bounds{plot_.from.x + px(6), plot_.from.y + px(6), plot_.to.x - px(6), plot_.to.y - px(6)};
    const auto boxes = place_labels(requests, keep_clear_, bounds, px(kRadius + 12));
    for (std::size_t i = 0; i < boxes.size(); ++i) draw_leader(*current_[labelled[i]->front()], boxes[i]);
    draw_notes();
    for (std::size_t i = 0; i < boxes.size(); ++i) draw_card(*labelled[i], boxes[i], pad);
  }

  // Over the lines, on a ground of their own: no line strikes them through.
  void draw_notes() {
    for (const Note& n : notes_) {
      const ImVec2 size = text_size(theme_.small, n.text);
      const ImVec2 from{n.at.x - px(2), n.at.y}, to{n.at.x + size.x + px(2), n.at.y + size.y};
      frame_.paint.fill(from, to, faded(colours().paper, 0.85F), px(2));
      frame_.log.box("note/" + n.text, from, to);
      frame_.paint.text(theme_.small, n.at, colours().ink, n.text);
    }
  }

  void draw_leader(const Dot& d, const Box& box) {
    const ImVec2 at = plot_.at(d.point.at);
    const ImVec2 near{std::clamp(at.x, box.x0, box.x1), std::clamp(at.y, box.y0, box.y1)};
    const float away = apart(near, at), edge = radius(d) + px(kRing);
    if (away > edge)
      frame_.paint.line({at.x + (near.x - at.x) * edge / away, at.y + (near.y - at.y) * edge / away}, near,
                        cluster_of(d)->size() > 1 ? colours().muted : colour(d), px(1.5F));
  }

  void draw_card(const Cluster& cluster, const Box& box, ImVec2 pad) {
    const ImVec2 from{std::round(box.x0), std::round(box.y0)};
    const ImVec2 to{std::round(box.x1) - px(3), std::round(box.y1) - px(3)};
    card(frame_, from, to, px(6));
    float y = from.y + pad.y;
    std::map<const Dot*, std::pair<float, float>> parts;  // of the card's height, by task
    for (const CardLine& line : card_lines(cluster)) {
      const float height = text_size(type_of(line), line.text).y;
      if (line.name && line.dot != current_[cluster[0]]) y += px(kBetweenNames);
      frame_.paint.text(type_of(line), {from.x + px(5) + pad.x, y}, line.name ? colours().ink : colours().muted,
                        line.text);
      auto& part = parts.try_emplace(line.dot, y, y).first->second;
      part.second = y += height;
    }
    for (const auto& [d, part] : parts) {
      const float top = d == current_[cluster.front()] ? from.y : part.first;
      const float bottom = d == current_[cluster.back()] ? to.y : part.second;
      frame_.paint.fill({from.x, top}, {from.x + px(5), bottom}, colour(*d), px(2));
      frame_.log.box("label/" + id(*d), {from.x, top}, {to.x, bottom});
      frame_.log.text("says/" + id(*d), second_line(*d));
    }
  }

  void draw_legend() {
    float x = plot_.from.x;
    const auto any = [&](auto&& is) { return std::any_of(scene_.dots.begin(), scene_.dots.end(), is); };
    const auto mark = [&](const std::string& text, auto&& draw_mark) {
      const float width = text_size(theme_.small, text).x;
      if (x + px(26) + width > plot_.to.x + px(4)) return;
      draw_mark(ImVec2{x + px(8), legend_y_});
      frame_.paint.text(theme_.small, {x + px(24), legend_y_}, colours().muted, text, {0, 0.5F});
      x += px(24 + 26) + width;
    };
    const ImU32 grey = colours().muted;
    const auto current = [&](Basis basis) {
      return std::any_of(current_.begin(), current_.end(), [&](const Dot* d) { return d->point.basis == basis; });
    };
    if (current(Basis::timed))
      mark("timed, larger is longer", [&](ImVec2 at) { frame_.paint.circle(at, px(8), grey); });
    if (current(Basis::counted))
      mark("counted: the best this traffic allows; arrow: with the least traffic",
           [&](ImVec2 at) { frame_.paint.circle(at, px(7), grey, px(3)); });
    const auto diamond = [&](ImVec2 c) {
      const float s = px(8);
      frame_.paint.polygon({{c.x, c.y - s}, {c.x + s, c.y}, {c.x, c.y + s}, {c.x - s, c.y}}, grey);
    };
    std::string vendor;
    for (const Dot& d : scene_.dots)
      if (d.rival == Rival::vendor && visible(d))
        vendor = vendor.empty() || vendor == d.who ? d.who : "vendor's library";
    if (!vendor.empty()) mark(vendor, diamond);
    if (any([](const Dot& d) { return d.rival == Rival::reference; }))
      mark("reference solution", [&](ImVec2 c) {
        frame_.paint.fill({c.x - px(7), c.y - px(7)}, {c.x + px(7), c.y + px(7)}, grey);
      });
    if (any([&](const Dot& d) { return d.rival == Rival::none && d.attempt != chosen_.shown; }))
      mark(scene_.result.steps ? "earlier and later steps" : "other attempts, by number",
           [&](ImVec2 at) { frame_.paint.circle(at, px(kSmall), grey); });
  }

  const Dot* under(ImVec2 mouse) const {
    for (auto d = current_.rbegin(); d != current_.rend(); ++d)  // the innermost first
      if (const ImVec2 at = plot_.at((*d)->point.at); apart(mouse, at) <= radius(**d) + px(4)) {
        const Cluster& shared = *cluster_of(**d);
        return current_[shared[member_at({at.x, at.y}, {mouse.x, mouse.y}, shared.size())]];
      }
    for (auto d = scene_.dots.rbegin(); d != scene_.dots.rend(); ++d)
      if (visible(*d) && apart(mouse, plot_.at(d->point.at)) <= px(kSmall + 5)) return &*d;
    return nullptr;
  }

  void keep_zoom(const LogAxis& x, const LogAxis& y) { chosen_.zoom = Extent{x.low, x.high, y.low, y.high}; }

  void mouse() {
    const ImVec2 at = ImGui::GetMousePos();
    const bool inside = mouse_over(plot_.from, plot_.to);
    const Dot* dot = inside ? under(at) : nullptr;
    LogAxis x = plot_.x, y = plot_.y;
    if (const float wheel = wheel_over(plot_.from, plot_.to); wheel != 0 && ImGui::GetIO().KeyCtrl) {
      x.zoom(at.x, std::pow(kWheelStep, wheel));
      y.zoom(at.y, std::pow(kWheelStep, wheel));
      keep_zoom(x, y);
    }
    const auto began_inside = [&](int button) {
      const ImVec2 start = ImGui::GetIO().MouseClickedPos[button];
      return start.x >= plot_.from.x && start.x < plot_.to.x && start.y >= plot_.from.y && start.y < plot_.to.y;
    };
    if (ImGui::IsMouseDragging(ImGuiMouseButton_Left, kStill) && began_inside(0)) {
      x.move(ImGui::GetIO().MouseDelta.x);
      y.move(ImGui::GetIO().MouseDelta.y);
      keep_zoom(x, y);
    }
    const ImVec2 corner = ImGui::GetIO().MouseClickedPos[1];
    if (ImGui::IsMouseDown(ImGuiMouseButton_Right) && began_inside(1) && apart(at, corner) > kStill) {
      frame_.paint.fill({std::min(at.x, corner.x), std::min(at.y, corner.y)},
                        {std::max(at.x, corner.x), std::max(at.y, corner.y)}, colours().selection);
    }
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Right) && began_inside(1) && std::abs(at.x - corner.x) > px(8) &&
        std::abs(at.y - corner.y) > px(8)) {
      chosen_.zoom = Extent{plot_.x.at(std::min(at.x, corner.x)), plot_.x.at(std::max(at.x, corner.x)),
                            plot_.y.at(std::max(at.y, corner.y)), plot_.y.at(std::min(at.y, corner.y))};
    }
    if (inside && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && !dot) chosen_.zoom.reset();
    // A release close to the press is a click, any other a drag.
    if (inside && ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
        apart(at, ImGui::GetIO().MouseClickedPos[0]) <= kStill) {
      if (dot && dot->rival == Rival::none && dot->attempt != chosen_.shown) {
        chosen_.other = chosen_.shown;
        chosen_.shown = dot->attempt;
      } else {
        chosen_.task = dot && chosen_.task.empty() ? dot->task : "";
      }
    }
    if (dot && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) explain(*dot);
  }

  void explain(const Dot& d) {
    const Task& task = scene_.group.attempts[d.attempt].tasks[d.point.task];
    auto text = d.rival != Rival::none ? fmt::format("{}: {}", d.task, d.who)
                : scene_.group.attempts.size() > 1
                    ? fmt::format("{}, {} {}", d.task, scene_.result.steps ? "step" : "attempt", d.attempt + 1)
                    : d.task;
    if (!task.title.empty() && d.rival == Rival::none) text += "\n" + task.title;
    text += fmt::format("\n{}   {} per byte", si(d.point.at.rate, d.point.unit + "/s"),
                        si(d.point.at.intensity, d.point.unit));
    if (d.rival == Rival::none) text += "\n" + advice(d.point, task, scene_.roofs);
    tooltip(frame_, text);
  }

  Frame& frame_;
  const Scene& scene_;
  Chosen& chosen_;
  const Theme& theme_;
  Plot plot_;
  float legend_y_;
  Obstacles keep_clear_;
  struct Number {
    ImVec2 at;
    std::string text;
  };
  std::vector<Number> numbers_;  // numbers of the attempts that are not shown
  struct Note {                  // a number or a level's name, by its upper left corner
    ImVec2 at;
    std::string text;
  };
  std::vector<Note> notes_;
  std::vector<const Dot*> current_;  // dots of the shown attempt
  std::vector<Cluster> clusters_;    // indices of current_ by place
  double longest_ = 0;               // seconds
};

}  // namespace

void draw_roofline(Frame& frame, const Scene& scene, Chosen& chosen, ImVec2 from, ImVec2 to) {
  Plotter(frame, scene, chosen, from, to).draw();
}

}  // namespace ridge::viz
