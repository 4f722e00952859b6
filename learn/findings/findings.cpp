#include "learn/findings/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/findings/gate_findings.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/findings/line_findings.hpp"
#include "learn/findings/timeline_findings.hpp"

namespace ridge::loop {

namespace {

// Points of the goals that count only once `goal` is met, and of those that wait for them.
double waiting_for(const std::string& goal, const Task& task, const TaskResult& t) {
  double points = 0;
  for (const Goal& g : task.goals)
    if (g.after == goal)
      for (const GoalResult& r : t.goals)
        if (r.id == g.id && !r.met) points += r.max - r.points + waiting_for(g.id, task, t);
  return points;
}

}  // namespace

std::vector<Finding> findings(const Lab& lab, const Result& r, const std::map<std::string, std::string>& sources,
                              std::size_t most) {
  std::vector<Finding> all;
  for (const TaskResult& t : r.tasks) {
    if (t.status != Status::failed) continue;
    const Task* spec = nullptr;
    for (const Task& known : lab.tasks)
      if (known.id == t.id) spec = &known;
    if (spec == nullptr) continue;
    auto add = [&](Finding f, const std::string& goal, double points) {
      f.task = t.id, f.goal = goal, f.points = points;
      if (!goal.empty()) f.waiting = waiting_for(goal, *spec, t);
      f.lesson = lesson_link(lab, *spec, goal);
      all.push_back(std::move(f));
    };
    bool correct = true;
    for (const CheckResult& c : t.checks) {
      const bool is_goal =
          std::any_of(t.goals.begin(), t.goals.end(), [&](const GoalResult& g) { return g.id == c.name; });
      if (c.passed || is_goal) continue;
      add(failed_gate(c, t, sources, spec->file), "", t.max - t.points);
      correct = false;
      break;
    }
    if (!correct) continue;
    const std::size_t before = all.size();
    for (const GoalResult& g : t.goals)
      if (!g.met && g.value) add(goal_finding(t, g, sources), g.id, g.max - g.points);
    // The answer is right and no goal could be measured: the first goal gives the reason.
    for (const GoalResult& g : t.goals) {
      if (all.size() != before || g.met || g.note.empty()) continue;
      Finding f;
      f.what = g.note;
      add(f, g.id, g.max - g.points);
    }
  }
  // A wrong answer must become right before it can become fast; the points decide the order.
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& a, const Finding& b) { return a.points + a.waiting > b.points + b.waiting; });
  for (std::size_t i = 0; i < all.size(); ++i) {  // a cause stands before what follows from it
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto cause =
        std::find_if(from, all.end(), [&](const Finding& f) { return f.task == from->task && f.goal == from->behind; });
    if (!from->behind.empty() && cause != all.end()) std::rotate(from, cause, cause + 1);
  }
  if (all.size() > most) all.resize(most);
  return all;
}

std::string findings_text(const std::vector<Finding>& findings, bool colour, bool messages) {
  if (findings.empty()) return {};
  auto paint = [&](const char* code, const std::string& text) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  auto points = [](double p) {
    return p < 0.95 ? fmt::format("{:.1g} points", p) : fmt::format("{:.3g} point{}", p, p == 1 ? "" : "s");
  };
  std::string out = "\n  " + paint("1", "What to look at next") + "\n";
  int number = 0;
  for (const Finding& f : findings) {
    out += fmt::format("   {}. {} ({} to gain{})\n", ++number,
                       paint("1", f.task + (f.goal.empty() ? ": " + f.gate : ", " + f.goal)), points(f.points),
                       f.waiting > 0 ? fmt::format(", and {} that wait for it", points(f.waiting)) : "");
    const bool placed = !f.where.empty() && f.what.find(f.where) == std::string::npos;
    if (messages || !f.goal.empty()) out += wrapped(printable((placed ? f.where + " " : "") + f.what), 6);
    if (!f.why.empty()) out += wrapped(printable(f.why), 6);
    out += paint("2", fmt::format("      Lesson: {}\n", f.lesson));
  }
  return out;
}

Result without_told(Result r, const std::vector<Finding>& findings) {
  for (const Finding& f : findings)
    for (TaskResult& t : r.tasks)
      if (t.id == f.task)
        for (GoalResult& g : t.goals)
          if (g.id == f.goal) g.note.clear();
  return r;
}

}  // namespace ridge::loop
