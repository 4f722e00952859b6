#include "app/home.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/findings/findings.hpp"
#include "learn/findings/lesson.hpp"

namespace ridge::loop {

namespace {

// Turns "2026-11-21T03:04:05Z" into "5 minutes ago".
std::string ago(const std::string& time) {
  std::tm utc{};
  if (strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return time;
  const double seconds = std::difftime(std::time(nullptr), timegm(&utc));
  if (seconds < 90) return "just now";
  if (seconds < 90 * 60) return fmt::format("{:.0f} minutes ago", seconds / 60);
  if (seconds < 36 * 3600) return fmt::format("{:.0f} hours ago", seconds / 3600);
  return fmt::format("{:.0f} days ago", seconds / 86400);
}

std::string points_text(double p) {
  return p == static_cast<int>(p) ? fmt::format("{:.0f}", p) : fmt::format("{:.1f}", p);
}

// The goal of a task that misses the most points; null where no measured goal misses any.
const GoalResult* worst_goal(const TaskResult& t) {
  const GoalResult* worst = nullptr;
  for (const GoalResult& g : t.goals)
    if (!g.met && g.value && (worst == nullptr || g.max - g.points > worst->max - worst->points)) worst = &g;
  return worst;
}

void show_next(const LabState& s) {
  const std::string number = number_of(s.lab);
  const TaskState* next = next_task(s);
  if (next == nullptr) return;
  const Task& spec = find_task(s.lab, next->id);
  fmt::print("\nNext: lab {}, task {}: {}\n", number, spec.id, spec.title);
  if (!s.last_built) {
    fmt::print("      the last attempt did not compile\n");
  } else if (!next->last) {
    fmt::print("      not tried yet\n");
  } else {
    Result only;
    only.tasks = {*next->last};
    Sources sources = read_sources(work_dir() / s.lab.name);
    if (const auto found = findings(s.lab, only, sources, 1); !found.empty()) {
      const Finding& f = found[0];
      const GoalResult* goal = worst_goal(*next->last);
      std::string text =
          goal != nullptr && !f.goal.empty() ? fmt::format("{} is {}: ", goal->id, goal_text(*goal)) : "";
      text += (f.where.empty() || f.what.find(f.where) != std::string::npos ? "" : f.where + " ") +
              f.what.substr(0, f.what.find('\n'));
      fmt::print("{}", wrapped(printable(text), 6));
    }
  }
  const std::string hints = next->hints == 0 ? fmt::format("{} hints, none taken yet", spec.hints.size())
                                             : fmt::format("{} of {} taken", next->hints, spec.hints.size());
  print_as_typed("\n  read   {}\n  edit   {}\n  check  ./ridge check {} --task {}\n", lesson_link(s.lab, spec),
                 shown(work_dir() / s.lab.name / spec.file), number, spec.id);
  print_as_typed("  watch  ./ridge watch {:<20} checks whenever you save\n  hint   ./ridge hint {:<21} {}\n", number,
                 number + " " + spec.id, hints);
}

}  // namespace

int home() {
  const bool colour = use_colour(stdout);
  auto paint = [&](const char* code, const std::string& text) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  std::vector<LabState> states;
  for (const Lab& lab : load_labs()) states.push_back(state_of(lab));
  int passed = 0;
  const LabState* current = nullptr;  // the lab worked on last among those started and not passed
  const LabState* fresh = nullptr;    // the first lab not started yet
  for (const LabState& s : states) {
    passed += s.passed();
    if (s.passed()) continue;
    if (!s.started && fresh == nullptr) fresh = &s;
    if (s.started && (current == nullptr || s.last_time > current->last_time)) current = &s;
  }
  const bool any = std::any_of(states.begin(), states.end(), [](const LabState& s) { return s.started; });
  if (!any) {
    fmt::print("Ridge: {} labs, none started yet.\n", states.size());
    if (!states.empty()) {
      const Lab& lab = states[0].lab;
      print_as_typed(
          "\nNext: lab {}, {} (about {} minutes)\n\n  start  ./ridge start {:<12} your own copy, under {}\n"
          "  read   {}\n  all    ./ridge labs\n",
          number_of(lab), lab.title, lab.minutes, number_of(lab), shown(work_dir()), shown(lab.dir / "README.md"));
    }
    return 0;
  }
  fmt::print("{}\n\n", paint("1", fmt::format("{} of {} labs passed", passed, states.size())));
  for (const LabState& s : states) {
    if (!s.started) continue;
    std::string when = s.last_time.empty() ? "not checked yet" : "checked " + ago(s.last_time);
    if (!s.last_built) when += ", did not compile";
    fmt::print("  {} {:<32} {:>5} / {:<4} {} of {} tasks   {}\n",
               s.passed()      ? paint("32", "done")
               : &s == current ? paint("36", "  > ")
                               : "    ",
               number_of(s.lab) + " " + s.lab.title, points_text(s.points), points_text(s.max), s.passed_tasks(),
               s.tasks.size(), paint("2", when));
  }
  if (current != nullptr) {
    show_next(*current);
  } else if (fresh != nullptr) {
    print_as_typed("\nNext: lab {}, {} (about {} minutes)\n\n  start  ./ridge start {}\n", number_of(fresh->lab),
                   fresh->lab.title, fresh->lab.minutes, number_of(fresh->lab));
  } else {
    print_as_typed("\nAll labs passed. On a GPU: ./ridge grade 01 --backend cuda\n");
  }
  return 0;
}

}  // namespace ridge::loop
