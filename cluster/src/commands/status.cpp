#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/collect/executors.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/gradebook/class_counts.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

struct StatusArguments {
  std::string course;
  bool watch = false;
};

std::string lab_status(Gradebook& book, const std::string& lab) {
  constexpr int kMostNamed = 20;
  const std::vector<Grade> grades = book.grades(lab);
  const ClassCounts students = class_counts(grades);
  const Counts works = book.counts(lab);
  const auto nobodys = book.unmatched(lab);
  if (students.nothing == students.students && works.open() + works.graded + works.not_graded == 0 && nobodys.empty())
    return "";
  std::string text = fmt::format("  {:<18} {}\n", lab, counts_text(students));
  text += fmt::format(
      "  {:<18} different contents, of earlier hand-ins too: graded {}, in the queue or running {}, waiting {}, not "
      "graded {}\n",
      "", works.graded, works.running, works.waiting, works.not_graded);
  int named = 0;
  for (const Grade& g : grades)
    if (state_of(g) == StudentState::not_graded && named++ < kMostNamed)
      text += fmt::format("    not graded: {}: {}\n", g.student.id, capped(printable(why_no_grade(g)), 300));
  if (named > kMostNamed)
    text += fmt::format("    and {} more: `ridge cluster report --lab {}` names them\n", named - kMostNamed,
                        lab.substr(0, 2));
  for (Rows r = book.db().query(
           "SELECT w.content, w.state, w.reason FROM work w WHERE w.lab = ?1 AND w.state IN ('not-graded', "
           "'cancelled') AND w.generation = (SELECT max(generation) FROM work n WHERE n.lab = w.lab AND n.content = "
           "w.content AND n.backend = w.backend) AND EXISTS (SELECT 1 FROM work o JOIN result r ON r.work = o.id AND "
           "r.counts = 1 WHERE o.lab = w.lab AND o.content = w.content AND o.backend = w.backend)",
           lab);
       r.next();)
    text += fmt::format("    regraded without a result: {}: {}; the older result counts\n", r.text(0).substr(0, 12),
                        r.text(1) == "cancelled" ? "cancelled" : capped(printable(r.text(2)), 300));
  if (!nobodys.empty())
    text += fmt::format("    {} belong{} to nobody on the roster, and stop{} exports\n",
                        nobodys.size() == 1 ? "1 entry" : fmt::format("{} entries", nobodys.size()),
                        nobodys.size() == 1 ? "s" : "", nobodys.size() == 1 ? "s" : "");
  return text;
}

int status(const StatusArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  const auto executor = make_executor(course);
  for (;;) {
    std::string text = fmt::format("{}, {}\n", course.name, date_text(wall_now()));
    for (const auto& [name, rules] : course.labs) text += lab_status(book, name);
    std::string why;
    if (const auto seen = executor->look(book.jobs_prefix(), why)) {
      int running = 0, waiting = 0;
      std::string reason;
      for (const auto& [name, t] : seen->queued) {
        const bool waits = t.state == QueuedTask::State::waiting;
        ++(waits ? waiting : running);
        if (waits && !t.reason.empty()) reason = t.reason;
      }
      if (!seen->queued.empty()) text += fmt::format("  jobs: {} running, {} pending", running, waiting);
      if (waiting > 0)
        if (int before = executor->position(book.jobs_prefix()); before > 0)
          text += fmt::format("; {} of others are before ours", before);
      if (!seen->queued.empty()) text += "\n";
      if (!reason.empty()) text += fmt::format("  jobs are pending: {}\n", capped(printable(reason), 300));
    } else {
      text += fmt::format("  {} does not answer{}{}\n", executor->name(), why.empty() ? "" : ": ",
                          capped(printable(replaced(trimmed(why), "\n", "; ")), 300));
    }
    for (Rows r = book.db().query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
      text += fmt::format("  left out: node {} ({})\n", r.text(0), r.text(1));
    fmt::print("{}{}", a.watch && isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "", text);
    std::fflush(stdout);
    if (!a.watch || book.counts("").open() == 0) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

}  // namespace

void add_status(Registry& cluster) {
  const auto [command, a] =
      cluster.add_with_course<StatusArguments>("status", "Show how far grading is", " --watch", status);
  command->add_flag("--watch", a->watch, "Until nothing is open");
}

}  // namespace ridge::cluster
