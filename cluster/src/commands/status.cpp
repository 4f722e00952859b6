#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/collect/executors.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

struct StatusArguments {
  std::string course;
  bool watch = false;
};

int status(const StatusArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  const auto executor = make_executor(course);
  for (;;) {
    std::string text = fmt::format("{}, {}\n", course.name, date_text(wall_now()));
    for (const auto& [name, rules] : course.labs) {
      const Counts c = book.counts(name);
      if (c.open() + c.graded + c.not_graded == 0) continue;
      int students = 0, with_grade = 0;
      for (const Grade& g : book.grades(name)) ++students, with_grade += g.percent.has_value();
      text += fmt::format("  {:<22} students with a grade {:>4} of {}\n", name, with_grade, students);
      text += fmt::format("  {:<22} different contents: graded {}, running or queued {}, waiting {}, not graded {}\n",
                          "", c.graded, c.running, c.waiting, c.not_graded);
    }
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
      text += fmt::format("  {} does not answer{}{}\n", executor->name(), why.empty() ? "" : ": ", why);
    }
    for (Rows r = book.db().query("SELECT w.lab, w.content, w.reason FROM work w WHERE w.state = 'not-graded'");
         r.next();)
      text += fmt::format("  not graded: {} {}: {}\n", r.text(0), r.text(1).substr(0, 12), r.text(2));
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
