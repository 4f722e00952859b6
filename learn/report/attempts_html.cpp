#include "learn/report/attempts_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "learn/attempts/attempts.hpp"
#include "learn/attempts/code_diff.hpp"
#include "learn/report/svg.hpp"

namespace ridge::loop {

namespace {

constexpr std::size_t kMostRead = 200, kMostListed = 30;
constexpr double kChartWidth = 760, kChartHeight = 150, kChartLeft = 44, kChartRight = 16, kChartTop = 14,
                 kChartBottom = 28;

// "2026-11-21T03:04:05Z" -> "2026-11-21 03:04"
std::string short_time(const std::string& time) {
  return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5);
}

std::string change_of(const Result& before, const Result& after) {
  std::string text;
  for (const FileDiff& d : code_diff(before, after)) {
    const DiffStat stat = diff_stat(d.lines);
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", d.name,
                        d.known ? fmt::format(" +{} -{}", stat.added, stat.removed) : " changed");
  }
  return text;
}

std::string chart(const std::vector<Stop>& stops, double most) {
  const double span = std::max<double>(1, static_cast<double>(stops.size()) - 1);
  const auto x = [&](std::size_t i) {
    return kChartLeft + (kChartWidth - kChartLeft - kChartRight) * static_cast<double>(i) / span;
  };
  const auto y = [&](double points) {
    return kChartTop +
           (kChartHeight - kChartTop - kChartBottom) * (1 - std::clamp(points / std::max(most, 1e-9), 0.0, 1.0));
  };
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} attempts, from {:g} to {:g} of {:g} points\">\n",
      kChartWidth, kChartHeight, stops.size(), stops.front().points, stops.back().points, most);
  for (const double part : {0.0, 0.5, 1.0})
    out += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}</text>\n",
        kChartLeft, kChartWidth - kChartRight, y(part * most), y(part * most), kChartLeft - 8, y(part * most) + 4,
        part * most);
  std::string path;
  for (std::size_t i = 0; i < stops.size(); ++i)
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", x(i), y(stops[i].points))
                   : fmt::format(" H{:.1f} V{:.1f}", x(i), y(stops[i].points));
  out += fmt::format("<path class=\"way\" d=\"{}\"/>\n", path);
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const Stop& s = stops[i];
    out += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n",
                       !s.built            ? "broken"
                       : !s.passed.empty() ? "passed"
                                           : "tried",
                       x(i), y(s.points), s.passed.empty() ? 4 : 6,
                       escaped(fmt::format("attempt {}, {}: {:g} points{}", i + 1, short_time(s.time), s.points,
                                           s.note.empty() ? "" : ". " + s.note)));
  }
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\">attempt 1</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">attempt {}</text>\n</svg>\n",
      kChartLeft, kChartHeight - 8, kChartWidth - kChartRight, kChartHeight - 8, stops.size());
  return out;
}

std::string list_item(const Stop& s) {
  std::string told;
  const auto add = [&](const std::string& text) { told += (told.empty() ? "" : "; ") + text; };
  if (!s.change.empty()) add(s.change);
  if (!s.built) add("it did not compile");
  for (const std::string& task : s.passed) add(task + " passed");
  if (s.hints > 0) add(fmt::format("{} hint{} taken", s.hints, s.hints == 1 ? "" : "s"));
  return fmt::format("{} <span class=\"soft\">{} points</span> {}{}", escaped(short_time(s.time)),
                     fmt::format("{:g}", std::floor(s.points * 10 + 1e-6) / 10), escaped(told),
                     s.note.empty() ? "" : fmt::format("<blockquote>{}</blockquote>", escaped(s.note)));
}

}  // namespace

std::vector<Stop> stops_of(const Lab& lab) {
  std::vector<Stop> stops;
  std::vector<std::string> ids = own_attempts(lab);
  if (ids.size() > kMostRead) ids.erase(ids.begin(), ids.end() - kMostRead);
  const std::vector<Event> events = journal(lab.name);
  std::map<std::string, double> points;
  std::set<std::string> passed;
  std::optional<Attempt> last;
  std::size_t event = 0;
  for (const std::string& id : ids) {
    auto attempt = load_attempt(lab.name, id);
    if (!attempt) continue;
    const Result& r = attempt->result;
    Stop stop{r.time, "", last ? change_of(last->result, r) : "", 0, r.outcome != Outcome::build_failed, {}, 0};
    for (const Event& e : events)
      if (e.kind == "attempt" && e.attempt == id) stop.note = e.note;
    for (; event < events.size() && events[event].time <= r.time; ++event) stop.hints += events[event].kind == "hint";
    for (const TaskResult& t : r.tasks) {
      points[t.id] = t.points;
      if (t.status == Status::passed && passed.insert(t.id).second) stop.passed.push_back(t.id);
    }
    for (const auto& [task, p] : points) stop.points += p;
    stops.push_back(std::move(stop));
    last = std::move(attempt);
  }
  return stops;
}

std::string attempts_html(const std::vector<Stop>& stops, double most) {
  if (stops.empty()) return {};
  std::string out =
      fmt::format("<h3>{}</h3>\n", stops.size() == 1 ? "One attempt" : fmt::format("{} attempts", stops.size()));
  if (stops.size() > 1) out += "<figure class=\"path\">" + chart(stops, most) + "</figure>\n";
  const std::size_t first = stops.size() > kMostListed ? stops.size() - kMostListed : 0;
  out += fmt::format("<ol class=\"stops\" start=\"{}\">\n", first + 1);
  for (std::size_t i = first; i < stops.size(); ++i) out += "<li>" + list_item(stops[i]) + "</li>\n";
  return out + "</ol>\n";
}

}  // namespace ridge::loop
