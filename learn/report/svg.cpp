#include "learn/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "formats/json_fields.hpp"
#include "formats/xml_text.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr double kWidth = 760, kHeight = 360, kLeft = 96, kRight = 36, kTop = 20, kBottom = 56;
constexpr std::size_t kMostBars = 1500, kMostRows = 24, kMostArrows = 200;
constexpr double kLine = 20;  // px of a line of text: on a telephone letters are larger in these units

std::string power(double decade, const std::string& unit) {
  static const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  const int d = static_cast<int>(decade), group = std::clamp(d / 3, 0, 5);
  return fmt::format("{:g} {}{}", std::pow(10, d - 3 * group), prefixes[group], unit);
}

// A name of at most 60 characters.
std::string elided(const std::string& name) {
  constexpr std::size_t kMost = 60;
  std::size_t at = 0, characters = 0;
  for (; at < name.size() && characters < kMost; ++characters) do
      ++at;
    while (at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80);
  return at < name.size() ? name.substr(0, at) + "..." : name;
}

struct Axis {
  double low, high, from, to;  // decades, pixels
  double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

// `joined`: the tasks are steps of a path.
std::string draw_roofline(const Result& r, bool joined) {
  const Ceiling* memory = nullptr;
  const Ceiling* compute = nullptr;
  for (const Ceiling& c : r.ceilings) {
    if (!(c.value > 0)) continue;
    if (c.kind == "bandwidth" && memory == nullptr) memory = &c;
    if (c.kind == "compute" && compute == nullptr) compute = &c;
  }
  struct Point {
    std::string task;
    double x, y;
    bool timed;
  };
  std::vector<Point> points;
  std::string unit = "op";
  for (const TaskResult& t : r.tasks) {
    if (!t.roofline || !(t.roofline->operations > 0) || !(t.roofline->bytes > 0) || memory == nullptr) continue;
    const double x = t.roofline->operations / t.roofline->bytes;
    double roof = x * memory->value;
    if (compute != nullptr && compute->unit == t.roofline->operation_unit + "/s") roof = std::min(roof, compute->value);
    const bool timed = t.roofline->seconds && *t.roofline->seconds > 0;
    points.push_back({t.id, x, timed ? t.roofline->operations / *t.roofline->seconds : roof, timed});
    unit = t.roofline->operation_unit;
  }
  if (points.empty()) return {};
  double x_low = 1e300, x_high = 0, y_high = 0, y_low = 1e300;
  for (const Point& p : points)
    x_low = std::min(x_low, p.x), x_high = std::max(x_high, p.x), y_low = std::min(y_low, p.y),
    y_high = std::max(y_high, p.y);
  if (compute != nullptr)
    x_high = std::max(x_high, 2 * compute->value / memory->value), y_high = std::max(y_high, compute->value);
  const Axis x{std::floor(std::log10(x_low) - 0.3), std::ceil(std::log10(x_high) + 0.1), kLeft, kWidth - kRight};
  const Axis y{std::floor(std::log10(y_low) - 0.3), std::ceil(std::log10(y_high) + 0.1), kHeight - kBottom, kTop};
  std::string told;
  for (const Point& p : points) told += fmt::format("{} at {:.3g} {} a byte; ", p.task, p.x, unit);
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><title>{}</title>\n", kWidth,
                                kHeight, escaped("Roofline. " + told), escaped("Roofline of " + r.lab));
  for (double d = x.low; d <= x.high; d += 1)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:g}</text>\n",
        x.at(std::pow(10, d)), kTop, kHeight - kBottom, kHeight - kBottom + 24, std::pow(10, d));
  for (double d = y.low; d <= y.high; d += 1)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        y.at(std::pow(10, d)), kLeft, kWidth - kRight, kLeft - 6, y.at(std::pow(10, d)) + 4, power(d, ""));
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{} a byte</text><text x=\"14\" y=\"{}\" transform=\"rotate(-90 "
      "14 {})\" text-anchor=\"middle\">{} a second</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(unit), kHeight / 2, kHeight / 2, escaped(unit));
  // The memory roof ends where it meets the compute roof.
  const double end_x = std::pow(10, x.high),
               cut = compute != nullptr ? std::min(end_x, compute->value / memory->value) : end_x;
  double start_x = std::pow(10, x.low);
  if (start_x * memory->value < std::pow(10, y.low)) start_x = std::pow(10, y.low) / memory->value;
  out +=
      fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}", x.at(start_x),
                  y.at(start_x * memory->value), x.at(cut), y.at(std::min(cut * memory->value, std::pow(10, y.high))));
  if (compute != nullptr) out += fmt::format(" L{:.1f} {:.1f}", x.at(end_x), y.at(compute->value));
  out += "\"/>\n";
  out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft + 8, kTop + 12,
                     escaped(memory->name + (compute != nullptr ? ", " + compute->name : "")));
  if (joined) {
    out += "<polyline class=\"way\" points=\"";
    for (const Point& p : points) out += fmt::format("{:.1f},{:.1f} ", x.at(p.x), y.at(p.y));
    out += "\"/>\n";
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.y > b.y; });
  double below = 0;
  for (const Point& p : points) {
    const double px = x.at(p.x), py = y.at(p.y), text_y = std::max(py + 4, below + kLine);
    below = text_y;
    const bool left = px > kWidth - 160;
    out += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/><text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
        p.timed ? "timed" : "counted", px, py, left ? px - 9 : px + 9, text_y, left ? " text-anchor=\"end\"" : "",
        escaped(p.task));
  }
  return out + "</svg>\n";
}

bool same_place(const Roofline& a, const Roofline& b) {
  return a.operations == b.operations && a.bytes == b.bytes && a.seconds == b.seconds;
}

}  // namespace

std::string escaped(const std::string& text) { return replaced(xml_text(printable(text)), "'", "&#39;"); }

std::string roofline_svg(const Result& r) { return draw_roofline(r, false); }

std::string attempts_roofline_svg(const std::vector<Result>& attempts, const std::string& task) {
  Result path;
  std::size_t first = 0;  // attempt of the last point, from 1
  for (std::size_t i = 0; i < attempts.size(); ++i)
    for (const TaskResult& t : attempts[i].tasks) {
      if (t.id != task || !t.roofline) continue;
      path.ceilings = attempts[i].ceilings;
      path.lab = attempts[i].lab;
      if (path.tasks.empty() || !same_place(*path.tasks.back().roofline, *t.roofline)) {
        first = i + 1;
        path.tasks.push_back(t);
        path.tasks.back().id = std::to_string(first);
      } else {
        path.tasks.back().id = fmt::format("{} to {}", first, i + 1);
      }
    }
  return draw_roofline(path, true);
}

std::string timeline_svg(const std::string& text, const std::string& title) {
  json trace;
  try {
    trace = parse_json(text);
  } catch (const Error&) {
    return {};
  }
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) return {};
  struct Bar {
    double start, length;
    std::string name, kind;
  };
  std::map<std::pair<double, double>, std::string> names;
  std::map<std::pair<double, double>, std::vector<Bar>> rows;
  struct Mark {  // one end of an arrow
    std::pair<double, double> row;
    double at = 0;
  };
  std::map<double, Mark> begins;              // by the arrow's number
  std::vector<std::pair<Mark, Mark>> arrows;  // waits of one stream for another
  std::map<double, std::size_t> processes;    // more than one: ranks
  double end = 0;
  std::size_t bars = 0, left_out = 0;
  for (const json& e : trace["traceEvents"]) {
    if (!e.is_object()) continue;
    const std::pair row{number_at(e, "pid"), number_at(e, "tid")};
    const std::string phase = text_at(e, "ph", 200);
    if (phase == "M" && text_at(e, "name", 200) == "thread_name" && e.contains("args") && e["args"].is_object())
      names[row] = text_at(e["args"], "name", 200);
    if (phase == "s") begins[number_at(e, "id")] = {row, number_at(e, "ts")};
    if (phase == "f" && text_at(e, "name", 200) == "wait" && arrows.size() < kMostArrows)
      if (const auto from = begins.find(number_at(e, "id")); from != begins.end())
        arrows.emplace_back(from->second, Mark{row, number_at(e, "ts")});
    if (phase != "X") continue;
    processes.emplace(row.first, processes.size());
    const double start = number_at(e, "ts"), length = number_at(e, "dur");
    if (start < 0 || length < 0) continue;
    if (++bars > kMostBars || (rows.count(row) == 0 && rows.size() >= kMostRows)) {
      ++left_out;
      continue;
    }
    rows[row].push_back({start, length, text_at(e, "name", 200), text_at(e, "cat", 200)});
    end = std::max(end, start + length);
  }
  if (rows.empty() || !(end > 0)) return {};
  // A row's name stands above its bars, whole on every screen.
  constexpr double kRow = 42, kBars = kLine, left = 4;
  const double height = kRow * static_cast<double>(rows.size()) + 40, scale = (kWidth - left - kRight) / end;
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><title>{}</title>\n", kWidth, height,
                  escaped(fmt::format("Timeline of {}: {} rows, {:.1f} us of virtual time", title, rows.size(), end)),
                  escaped("Timeline of " + title));
  double top = 8;
  std::string labels;  // drawn last, so that no arrow strikes them through
  std::map<std::pair<double, double>, double> middles;
  for (const auto& [row, list] : rows) {
    middles[row] = top + kBars + 8;
    std::string label = names.count(row) != 0 ? names[row] : fmt::format("row {:g}", row.second);
    if (processes.size() > 1) label = fmt::format("rank {:g}: {}", row.first, label);
    labels += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n", left, top + kBars - 5,
                          escaped(elided(label)));
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", left, kWidth - kRight,
                       top + kRow - 4, top + kRow - 4);
    for (const Bar& b : list) {
      const char* kind = b.kind == "kernel"     ? "kernel"
                         : b.kind == "host"     ? "host"
                         : b.kind == "exchange" ? "exchange"
                                                : "copy";
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"16\"><title>{}</title></rect>\n", kind,
          left + b.start * scale, top + kBars, std::max(0.6, b.length * scale),
          escaped(fmt::format("{}, {:.2f} to {:.2f} us", b.name, b.start, b.start + b.length)));
    }
    top += kRow;
  }
  for (const auto& [from, to] : arrows) {
    if (middles.count(from.row) == 0 || middles.count(to.row) == 0) continue;
    const double x0 = left + from.at * scale, x1 = left + to.at * scale, y0 = middles[from.row], y1 = middles[to.row];
    out += fmt::format(
        "<path class=\"wait\" d=\"M{0:.2f} {1} C{2:.2f} {1} {3:.2f} {4} {5:.2f} {4}\"/><circle class=\"end\" "
        "cx=\"{5:.2f}\" "
        "cy=\"{4}\" r=\"2.5\"/>\n",
        x0, y0, x0 + 14, x1 - 14, y1, x1);
  }
  out += labels;
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\">0</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.1f} us{}</text>\n</svg>\n", left,
      top + 18, kWidth - kRight, top + 18, end,
      left_out > 0 ? fmt::format(" ({} more operations are not drawn)", left_out) : "");
  return out;
}

}  // namespace ridge::loop
