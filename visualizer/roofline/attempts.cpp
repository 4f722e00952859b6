#include "roofline/attempts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace ridge::viz {
namespace {

bool of_solution(const Result& r) {
  return r.submission.starts_with("solutions/") || r.submission.find("/solutions/") != std::string::npos;
}

const Task* task_named(const Result& r, const std::string& id) {
  for (const Task& t : r.tasks)
    if (t.id == id) return &t;
  return nullptr;
}

// The dot of the same work done in `seconds`.
std::optional<TaskPoint> rival_point(const Task& task, std::size_t index, std::optional<double> seconds,
                                     const Roofs& roofs) {
  if (!seconds || !task.roofline) return {};
  Task other = task;
  other.roofline->seconds = seconds;
  other.roofline->basis = Basis::timed;
  other.kernels.clear();
  return place(other, index, roofs);
}

std::string amount(double value, const char* unit) {
  static constexpr std::array<std::pair<double, const char*>, 4> kSmall{
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "\u00b5s"}, {1e-9, "ns"}}};
  if (std::string_view(unit) != "s") return si(value, unit);
  for (const auto& [factor, name] : kSmall)
    if (value >= factor * 0.9995) return fmt::format("{:.4g} {}", value / factor, name);
  return fmt::format("{:.3g} s", value);
}

}  // namespace

std::size_t Group::series(const std::string& task) const {
  return static_cast<std::size_t>(std::find(tasks.begin(), tasks.end(), task) - tasks.begin());
}

std::vector<Group> grouped(std::vector<Result> results) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (Result& r : results) {
    const auto key = fmt::format("{}\n{}\n{}\n{}", r.lab, r.backend, r.device, r.steps ? r.file.string() : "");
    const auto [at, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].attempts.push_back(std::move(r));
  }
  for (Group& g : groups) {
    auto& all = g.attempts;
    if (!all[0].steps)
      std::stable_sort(all.begin(), all.end(), [](const Result& a, const Result& b) {
        return std::tie(a.time, a.attempt) < std::tie(b.time, b.attempt);
      });
    const auto solutions = std::count_if(all.begin(), all.end(), of_solution);
    if (solutions > 0 && solutions < static_cast<std::ptrdiff_t>(all.size())) {
      g.reference = *std::find_if(all.rbegin(), all.rend(), of_solution);
      std::erase_if(all, of_solution);
    }
    for (const Result& r : all)
      for (const Task& t : r.tasks)
        if (std::find(g.tasks.begin(), g.tasks.end(), t.id) == g.tasks.end()) g.tasks.push_back(t.id);
  }
  return groups;
}

double fastest(const Group& group) {
  double best = 0;
  for (const Result& r : group.attempts)
    for (const Task& t : r.tasks)
      if (t.roofline && t.roofline->basis == Basis::timed && t.roofline->operations && t.roofline->seconds) {
        const double seconds = std::min(*t.roofline->seconds, t.vendor_seconds.value_or(*t.roofline->seconds));
        if (seconds > 0) best = std::max(best, *t.roofline->operations / seconds);
      }
  return best;
}

std::vector<Dot> dots_of(const Group& group, std::size_t shown, const Roofs& roofs) {
  std::vector<Dot> dots;
  const auto add = [&](const std::optional<TaskPoint>& point, const Task& task, std::size_t attempt, Rival rival,
                       std::string who) {
    if (point) dots.push_back({*point, task.id, group.series(task.id), attempt, rival, std::move(who)});
  };
  for (std::size_t a = 0; a < group.attempts.size(); ++a) {
    const auto& tasks = group.attempts[a].tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) add(place(tasks[i], i, roofs), tasks[i], a, Rival::none, "");
  }
  const auto& tasks = group.attempts[shown].tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& t = tasks[i];
    add(rival_point(t, i, t.vendor_seconds, roofs), t, shown, Rival::vendor, t.vendor.empty() ? "vendor" : t.vendor);
    if (t.reference_seconds) {
      add(rival_point(t, i, t.reference_seconds, roofs), t, shown, Rival::reference, "reference");
    } else if (group.reference) {
      if (const Task* r = task_named(*group.reference, t.id))
        add(place(*r, i, roofs), t, shown, Rival::reference, "reference");
    }
  }
  return dots;
}

std::vector<Difference> differences(const Dot* a, const Dot* b, const Task* task_a, const Task* task_b) {
  std::vector<Difference> out;
  // `up`: 1 where larger is better, -1 where smaller is, 0 for neither
  const auto line = [&](const char* what, std::optional<double> x, std::optional<double> y, const char* unit, int up) {
    if (!x && !y) return;
    Difference d{what, x ? amount(*x, unit) : "-", y ? amount(*y, unit) : "-", "", 0};
    if (x && y && *x > 0 && *y > 0) {
      const double ratio = *y / *x;
      d.change = std::abs(ratio - 1) < 5e-4
                     ? "same"
                     : fmt::format("{:+.{}f}%", 100 * (ratio - 1), std::abs(ratio - 1) < 0.1 ? 1 : 0);
      if (ratio >= 2) d.change = times(ratio) + " more";
      if (ratio <= 0.5) d.change = times(1 / ratio) + " less";
      if (std::abs(ratio - 1) >= 0.005) d.better = (ratio > 1) == (up > 0) ? 1 : -1;
      if (up == 0) d.better = 0;
    }
    out.push_back(std::move(d));
  };
  using Number = std::optional<double>;
  if (task_a || task_b) {
    const auto points = [](const Task* t) { return t ? fmt::format("{:g} / {:g}", t->points, t->max) : "-"; };
    const bool scored = (task_a && task_a->max > 0) || (task_b && task_b->max > 0);
    if (scored)
      out.push_back({"points", points(task_a), points(task_b), "",
                     task_a && task_b ? (task_b->points > task_a->points) - (task_b->points < task_a->points) : 0});
  }
  const auto of = [](const Dot* d, auto&& field) { return d ? Number(field(*d)) : Number(); };
  const std::string unit = a ? a->point.unit : b ? b->point.unit : "operation";
  line("time", of(a, [](const Dot& d) { return d.point.seconds; }), of(b, [](const Dot& d) { return d.point.seconds; }),
       "s", -1);
  line("rate", of(a, [](const Dot& d) { return d.point.at.rate; }), of(b, [](const Dot& d) { return d.point.at.rate; }),
       (unit + "/s").c_str(), 1);
  line("bytes", of(a, [](const Dot& d) { return d.point.bytes; }), of(b, [](const Dot& d) { return d.point.bytes; }),
       "B", -1);
  for (const Level level : kLevels) {
    const auto bytes = [&](const Dot& d) { return d.point.level_bytes[static_cast<std::size_t>(level)]; };
    line(fmt::format("bytes {}", name_of(level)).c_str(), of(a, bytes), of(b, bytes), "B", -1);
  }
  line("intensity", of(a, [](const Dot& d) { return d.point.at.intensity; }),
       of(b, [](const Dot& d) { return d.point.at.intensity; }), (unit + "/B").c_str(), 0);
  return out;
}

}  // namespace ridge::viz
