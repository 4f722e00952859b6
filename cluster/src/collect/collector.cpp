#include "cluster/src/collect/collector.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/gradebook/class_counts.hpp"
#include "cluster/src/intake/intake.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

Collector::Collector(Gradebook& book, Executor& executor)
    : book_(book),
      executor_(executor),
      prefix_(book.jobs_prefix()),
      attempts_(book),
      nodes_(book, executor),
      published_(book, attempts_, nodes_),
      batches_(book, executor, attempts_, nodes_),
      jobs_(book, executor, attempts_, nodes_, batches_),
      started_(steady_now()) {
  book_.claim_shared();
  make_parts();
  graded_at_start_ = book_.counts("").graded;
}

void Collector::make_parts() {
  for (const char* dir : {"spool", "taken", "rejected", "beat", "batches", "fenced", "log", "contents", "built"})
    make_folders(book_.course().shared / dir);
}

void Collector::step() {
  book_.db().require_in_place();
  collect();
  if (steady_now() >= next_watch_) {
    book_.require_shared();
    make_parts();  // somebody may have removed one
    jobs_.look();
    next_watch_ = steady_now() + (jobs_.controller_away() ? 2 : 1);
  }
  if (!jobs_.controller_away()) batches_.submit_waiting();
}

void Collector::show_progress(bool last) {
  const double now = steady_now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!last && now < next_progress_) return;
  next_progress_ = now + (terminal ? 1 : 10);
  const Counts c = book_.counts("");
  const int done = c.graded - graded_at_start_;
  std::string text = fmt::format("graded {}, in the queue or running {}, waiting {}", c.graded, c.running, c.waiting);
  if (c.not_graded > 0) text += fmt::format(", not graded {}", c.not_graded);
  if (jobs_.controller_away()) text += "; " + jobs_.no_answer();
  if (!jobs_.waits_for().empty())
    text += fmt::format("; {} does not start jobs: {}", executor_.name(), jobs_.waits_for());
  if (c.running > 0 && done == 0) {
    position_ = executor_.position(prefix_);
    if (position_ > 0) text += fmt::format("; {} jobs are before ours", position_);
  }
  if (done > 0 && c.open() > 0) {
    const double left = (now - started_) / done * c.open();
    text +=
        left < 90 ? fmt::format("; about {:.0f} s to go", left) : fmt::format("; about {:.0f} min to go", left / 60);
  }
  tell("{}{}{}", terminal ? "\r\033[K" : "", text, terminal && !last ? "" : "\n");
  std::fflush(stderr);
}

void Collector::run() {
  nodes_.forget();  // each run starts without excluded nodes
  tell("Ctrl-C leaves the jobs running; `ridge cluster resume` goes on from there.\n");
  for (;;) {
    step();
    if (book_.counts("").open() == 0) break;
    show_progress(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  jobs_.look();  // closes the batches
  show_progress(true);
}

void print_summary(Gradebook& book, const std::string& lab) {
  const std::vector<Grade> grades = book.grades(lab);
  const ClassCounts counts = class_counts(grades);
  double sum = 0;
  std::vector<std::string> open, unread;
  for (const Grade& g : grades) {
    if (g.percent)
      sum += *g.percent;
    else if (state_of(g) != StudentState::nothing)
      (g.content.empty() ? unread : open).push_back(fmt::format("  {}: {}", g.student.id, why_no_grade(g)));
  }
  fmt::print("{}: {}{}\n", lab, counts_text(counts),
             counts.with_grade > 0 ? fmt::format("; mean {:.1f} %", sum / counts.with_grade) : "");
  if (!open.empty())
    fmt::print("Not graded (never a zero; `ridge cluster grade` tries again):\n{}\n", fmt::join(open, "\n"));
  if (!unread.empty())
    fmt::print("Can't be graded as handed in (never a zero; these students hand in again):\n{}\n",
               fmt::join(unread, "\n"));
  for (Rows r = book.db().query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
    fmt::print("Left out: node {} ({})\n", r.text(0), r.text(1));
}

}  // namespace ridge::cluster
