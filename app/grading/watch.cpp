#include "app/grading/watch.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "app/grading/grading.hpp"
#include "app/grading/own_work.hpp"
#include "app/grading/watcher.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/findings/findings.hpp"

namespace ridge::loop {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(25);

std::atomic<bool> watching{false}, all_passed{false};
std::atomic<int> checks_made{0};

std::string clock_time() { return fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr))); }

struct Screen {
  bool terminal = isatty(STDOUT_FILENO) == 1;
  bool colour = use_colour(stdout);
  std::string paint(const char* code, const std::string& text) const {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  // A terminal's screen is overwritten in place, which does not flicker; any other output is appended to.
  void show(const std::string& text) const {
    if (!terminal) {
      fmt::print("{}", text);
    } else {
      std::string out = "\033[H";
      for (char c : text) out += c == '\n' ? std::string("\033[K\n") : std::string(1, c);
      fmt::print("{}\033[J", out);
    }
    std::fflush(stdout);
  }
};

class Watch {
 public:
  explicit Watch(const WatchArguments& a) : arguments_(a), lab_(find_lab(a.lab)) {
    if (!a.task.empty()) find_task(lab_, a.task);
  }

  int run() {
    const fs::path dir = own_folder(lab_);
    for (const TaskState& t : state_of(lab_).tasks)
      if (t.last) last_[t.id] = *t.last;
    std::vector<std::string> needed = lab_.files;
    Watcher watcher(dir, needed);
    watching = true;
    if (screen_.terminal) fmt::print("\033[2J");
    status_ = fmt::format("checking {} as it is", lab_.name);
    draw();
    if (!arguments_.once)
      check(arguments_.task.empty() ? std::set<std::string>{""} : std::set<std::string>{arguments_.task}, now());
    for (;;) {
      status_ = fmt::format("waiting for a change in {}, Ctrl-C ends", shown(dir));
      if (screen_.terminal || first_) draw();
      first_ = false;
      std::set<std::string> files;
      while ((files = watcher.changed()).empty()) std::this_thread::sleep_for(kPoll);
      const double saved = now();
      check(tasks_of(files), saved);
      if (arguments_.once) return all_passed ? 0 : 1;
    }
  }

 private:
  // The tasks whose file changed. One empty name stands for all tasks: a header changed.
  std::set<std::string> tasks_of(const std::set<std::string>& files) const {
    if (!arguments_.task.empty()) return {arguments_.task};
    std::set<std::string> tasks;
    for (const std::string& file : files) {
      std::size_t before = tasks.size();
      for (const Task& t : lab_.tasks)
        if (t.file == file) tasks.insert(t.id);
      if (tasks.size() == before) return {""};
    }
    return tasks;
  }

  void check(const std::set<std::string>& tasks, double since) {
    for (const std::string& task : tasks) {
      GradeArguments a;
      a.lab = lab_.name, a.task = task, a.backend = arguments_.backend;
      a.quiet = a.silent = true;
      Progress progress(!screen_.terminal);
      a.progress = [&](const std::string& text) {
        if (screen_.terminal) {
          status_ = "checking " + text;
          draw();
        } else {
          progress.show(text);
        }
      };
      Result r;
      try {
        judge_as_asked(a, lab::Mode::check, &r);
      } catch (const Error& e) {  // such as a file missing for a moment: the next save may mend it
        progress.clear();
        message_ = std::string(e.what()) + (e.advice.empty() ? "" : "\n  try: " + e.advice);
        if (!screen_.terminal) fmt::print("{} {}\n", clock_time(), message_);
        std::fflush(stdout);
        continue;
      }
      progress.clear();
      ++checks_made;
      take(r, now() - since);
    }
  }

  void take(const Result& r, double seconds) {
    message_.clear(), changes_.clear();
    std::string plain;
    if (r.outcome == Outcome::build_failed) {
      message_ = "did not compile:\n" + first_lines(printable(r.build_output), 14);
      plain = fmt::format("{} did not compile\n{}", clock_time(), first_lines(printable(r.build_output), 6));
    } else {
      for (const TaskResult& t : r.tasks) {
        auto old = last_.find(t.id);
        std::string line;
        if (old != last_.end())
          for (const Change& c : changes(old->second, t)) {
            const std::string text = c.what + " " + c.text;
            line += (line.empty() ? "" : "; ") + text;
            changes_.push_back({t.id, text, c.direction});
          }
        if (line.empty()) {
          for (const CheckResult& c : t.checks)
            line += fmt::format("{}{} {}", line.empty() ? "" : ", ", c.name, c.passed ? "ok" : "fail");
        }
        plain += fmt::format("{} {:<12} {} {:g} / {:g}  {}\n", clock_time(), t.id, t.status, t.points, t.max,
                             printable(line));
        last_[t.id] = t;
      }
    }
    found_ = findings(lab_, r, read_sources(work_dir() / lab_.name), screen_.terminal ? 2 : 1);
    all_passed = std::all_of(lab_.tasks.begin(), lab_.tasks.end(),
                             [&](const Task& t) {
                               auto at = last_.find(t.id);
                               return at != last_.end() && at->second.status != Status::failed;
                             }) &&
                 r.outcome != Outcome::build_failed;
    took_ = fmt::format("{:.1f} s from the save", seconds);
    checked_ = clock_time();
    if (!screen_.terminal) {
      fmt::print("{}", plain);
      for (const Finding& f : found_)
        if (!f.goal.empty() || r.outcome != Outcome::build_failed)
          fmt::print("{} next: {}{} {}\n", clock_time(), f.task, f.where.empty() ? "," : " " + f.where,
                     printable(f.what));
      fmt::print("{} {}\n", clock_time(), took_);
      std::fflush(stdout);
    } else {
      draw();
    }
  }

  static std::string first_lines(const std::string& text, int lines) {
    std::size_t at = 0;
    for (int i = 0; i < lines && at != std::string::npos; ++i) at = text.find('\n', at == 0 ? 0 : at + 1);
    return (at == std::string::npos ? text : text.substr(0, at)) + "\n";
  }

  void draw() {
    if (!screen_.terminal) {
      if (first_) screen_.show(fmt::format("{} {}\n", clock_time(), status_));
      return;
    }
    std::string out = screen_.paint("1", lab_.name + "  " + lab_.title) + "\n\n";
    double points = 0, max = 0;
    for (const Task& t : lab_.tasks) {
      auto at = last_.find(t.id);
      if (at == last_.end()) {
        out += fmt::format("  {} {:<18}\n", screen_.paint("2", "  - "), t.id);
        continue;
      }
      const TaskResult& r = at->second;
      points += r.points, max += r.max;
      out += fmt::format("  {} {:<18} {:>12}",
                         r.status == Status::passed    ? screen_.paint("32", "PASS")
                         : r.status == Status::skipped ? screen_.paint("2", "SKIP")
                                                       : screen_.paint("31", "FAIL"),
                         t.id, points_text(r.points, r.max));
      for (const GoalResult& g : r.goals)
        out += "  " +
               (g.met ? screen_.paint("32", g.id)
                      : screen_.paint("31", g.value ? fmt::format("{} {}", g.id, value_text(*g.value, g.full)) : g.id));
      out += "\n";
    }
    out += "\n  " + points_text(points, max);
    if (!checked_.empty()) out += screen_.paint("2", fmt::format("   checked at {}, {}", checked_, took_));
    out += "\n";
    if (!changes_.empty()) out += "\n  " + screen_.paint("1", "Since the attempt before") + "\n";
    for (const auto& c : changes_)
      out += fmt::format("   {} {}: {}\n",
                         c.direction > 0   ? screen_.paint("32", "+")
                         : c.direction < 0 ? screen_.paint("31", "-")
                                           : " ",
                         c.task, printable(c.text));
    if (!message_.empty()) out += "\n" + wrapped(message_, 2);
    if (message_.empty()) out += findings_text(found_, screen_.colour, true);
    out += "\n  " + screen_.paint("2", status_) + "\n";
    screen_.show(out);
  }

  struct Seen {
    std::string task, text;
    int direction;
  };
  WatchArguments arguments_;
  Lab lab_;
  Screen screen_;
  std::map<std::string, TaskResult> last_;
  std::vector<Seen> changes_;
  std::vector<Finding> found_;
  std::string status_, message_, took_, checked_;
  bool first_ = true;
};

}  // namespace

int watch(const WatchArguments& arguments) { return Watch(arguments).run(); }

int watch_ended(int signal) {
  if (!watching) return 128 + signal;
  const std::string text = fmt::format("\nEnded after {} check{}.\n", checks_made.load(), checks_made == 1 ? "" : "s");
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return 128 + signal;
  return all_passed ? 0 : 1;
}

}  // namespace ridge::loop
