// ridge log writes a student's work log as Markdown, from the journal and the results.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/text.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/attempts/code_diff.hpp"
#include "learn/questions/marking.hpp"
#include "learn/questions/predictions.hpp"

namespace ridge {

namespace {

using namespace loop;

// The first lines of a change, without blank lines, comments, and the indentation that all of them have.
std::string gist(const std::vector<DiffLine>& lines) {
  std::string out;
  int shown = 0;
  std::size_t common = std::string::npos;
  for (const DiffLine& l : lines)
    if (l.kind != ' ') common = std::min(common, l.text.find_first_not_of(" \t"));
  for (const DiffLine& l : lines) {
    if (l.kind == ' ') continue;
    const auto first = l.text.find_first_not_of(" \t");
    if (first == std::string::npos || l.text.compare(first, 2, "//") == 0 || l.text.size() - first < 3) continue;
    if (++shown > 8) {
      out += "...\n";
      break;
    }
    out += fmt::format("{} {}\n", l.kind, l.text.substr(common, 110));
  }
  return out;
}

// The predictions beside the measured values, with the median ratio, and the state of the quiz.
std::string questions_text(const Lab& lab) {
  std::string out;
  const std::vector<Predicted> all = predictions_of(lab);
  for (const Predicted& p : all) {
    if (!p.value) continue;
    const std::string told = p.measured ? comparison(p) : p.answer + " predicted; not measured yet";
    out +=
        fmt::format("- {} `{}`: {} *{}*\n", p.time.substr(0, 16), p.prediction.task, p.prediction.ask, printable(told));
  }
  if (const std::string text = calibration_text(calibration(all)); !text.empty()) out += "\n" + text + ".\n";
  if (!out.empty()) out = "\n## Predictions\n\n" + out;
  if (const auto quiz = load_quiz(lab)) {
    const QuizState state = quiz_state(lab.name, *quiz);
    if (state.answered() > 0)
      out += fmt::format("\n## Quiz\n\n{} of {} questions answered, {} right at first, {} right by now.\n",
                         state.answered(), quiz->questions.size(), state.right_at_first(), state.right_now());
  }
  return out;
}

int write_log(const std::string& key, const std::string& out) {
  const Lab lab = find_lab(key);
  const std::vector<std::string> ids = own_attempts(lab);
  const std::vector<Event> events = journal(lab.name);
  std::string text = fmt::format("# Work log: lab {}, {}\n\n", number_of(lab), lab.title);
  const LabState state = state_of(lab);
  text += fmt::format("{} attempts; {:g} of {:g} points by the last result of each task.\n", ids.size(), state.points,
                      state.max);
  std::optional<Attempt> last;  // the attempt before this one
  std::map<std::string, TaskResult> tasks;
  std::size_t event = 0;
  auto told_until = [&](const std::string& time) {  // hints and solutions opened until then
    for (; event < events.size() && events[event].time <= time; ++event) {
      const Event& e = events[event];
      if (e.kind == "hint") text += fmt::format("\n*{}: a hint for `{}` was taken.*\n", e.time.substr(0, 16), e.task);
      if (e.kind == "gave-up")
        text +=
            fmt::format("\n*{}: the solution of `{}` was opened before it passed.*\n", e.time.substr(0, 16), e.task);
    }
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto loaded = load_attempt(lab.name, ids[i]);
    if (!loaded) continue;
    for (const Event& e : events)
      if (e.kind == "attempt" && e.attempt == ids[i]) loaded->note = e.note;
    const Result& r = loaded->result;
    std::string measured;
    for (const TaskResult& t : r.tasks) {
      auto old = tasks.find(t.id);
      std::string line;
      if (old == tasks.end()) {
        for (const GoalResult& g : t.goals)
          line += fmt::format("{}{} {}", line.empty() ? "" : "; ", g.id, goal_text(g));
        if (!t.checks.empty() && !t.checks[0].passed && t.goals.size() != t.checks.size())
          line = t.checks[0].name + " failed: " + t.checks[0].message.substr(0, t.checks[0].message.find('\n'));
        line = fmt::format("{}, {:g} of {:g} points. {}", t.status, t.points, t.max, line);
      } else {
        for (const Change& c : changes(old->second, t))
          line += fmt::format("{}{} {}", line.empty() ? "" : "; ", c.what, c.text);
        if (!line.empty())
          line = fmt::format("{:g} -> {:g} of {:g} points. {}", old->second.points, t.points, t.max, line);
      }
      if (!line.empty()) measured += fmt::format("- `{}`: {}\n", t.id, printable(line));
      if (r.outcome != Outcome::build_failed) tasks[t.id] = t;
    }
    if (r.outcome == Outcome::build_failed)
      measured = fmt::format("- did not compile: {}\n", printable(r.build_output.substr(0, r.build_output.find('\n'))));
    std::string change;
    if (last)
      for (const FileDiff& d : code_diff(last->result, r)) {
        const DiffStat stat = diff_stat(d.lines);
        change += d.known ? fmt::format("\n`{}` +{} -{}\n\n```diff\n{}```\n", d.name, stat.added, stat.removed,
                                        printable(gist(d.lines)))
                          : fmt::format("\n`{}` changed (its text is no longer kept)\n", d.name);
      }
    const bool repeated = last && change.empty() && loaded->note.empty() && measured.empty();
    told_until(r.time);
    if (!repeated) {
      text += fmt::format("\n## {}. {}\n", i + 1, attempt_title(r));
      if (!loaded->note.empty()) text += fmt::format("\n**Hypothesis.** {}\n", printable(loaded->note));
      if (!change.empty()) text += "\n**Change.**\n" + change;
      text += "\n**Measured.**\n\n" + (measured.empty() ? std::string("- nothing changed\n") : measured);
    }
    last = std::move(loaded);
  }
  told_until("9");
  text += questions_text(lab);
  if (ids.empty()) text += as_typed(fmt::format("\nNo attempt yet: ./ridge check {}\n", number_of(lab)));
  if (out.empty())
    fmt::print("{}", text);
  else
    write_durably(fs::absolute(out), text);
  return 0;
}

struct LogArguments {
  std::string lab, out;
};

}  // namespace

void add_log(Commands& ridge) {
  CLI::App* command = ridge.add("log", "Your work log as Markdown: hypothesis, change, measured result",
                                "  ridge log 01\n  ridge log 01 -o log.md");
  auto a = std::make_shared<LogArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("-o,--output", a->out, "Write to this file");
  ridge.set_action(command, [a] { return write_log(a->lab, a->out); });
}

}  // namespace ridge
