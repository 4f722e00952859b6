// ridge hint shows one more hint each time, and notes it in the journal.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"

namespace ridge {

namespace {

using namespace loop;

// The checks that failed in the last attempt at a task. Goals count where the answer was right: before that they were
// not measured.
std::vector<std::string> failures(const TaskState* state, const Task& task) {
  std::vector<std::string> gates, goals;
  if (state == nullptr || !state->last) return {};
  for (const CheckResult& c : state->last->checks) {
    if (c.passed) continue;
    const bool goal = std::any_of(task.goals.begin(), task.goals.end(), [&](const Goal& g) { return g.id == c.name; });
    std::vector<std::string>& all = goal ? goals : gates;
    if (c.cause != Cause::none) all.emplace_back(name_of(c.cause));
    all.push_back(c.name);
  }
  return gates.empty() ? goals : gates;
}

struct Choice {
  int hint = -1;  // from 0
  std::string answers;
};

// The next hint to show: the first unseen one that answers a failure, in the order of the failures; otherwise the first
// unseen one. Once all were seen, the last.
Choice choose(const std::vector<Hint>& hints, const std::vector<int>& shown, const std::vector<std::string>& failed) {
  auto unseen = [&](int i) { return std::find(shown.begin(), shown.end(), i) == shown.end(); };
  const int count = static_cast<int>(hints.size());
  for (const std::string& what : failed)
    for (int i = 0; i < count; ++i) {
      const auto& answers = hints[static_cast<std::size_t>(i)].answers;
      if (unseen(i) && std::find(answers.begin(), answers.end(), what) != answers.end()) return {i, what};
    }
  for (int i = 0; i < count; ++i)
    if (unseen(i)) return {i, {}};
  return {count - 1, {}};
}

int show_hint(const std::string& key, const std::string& name, bool again) {
  const LabState s = state_of(find_lab(key));
  const Task& task = task_or_next(s, name);
  const TaskState* state = nullptr;
  for (const TaskState& t : s.tasks)
    if (t.id == task.id) state = &t;
  std::vector<int> shown = hints_shown(journal(s.lab.name), task.id);
  const int count = static_cast<int>(task.hints.size());
  shown.erase(std::remove_if(shown.begin(), shown.end(), [&](int i) { return i >= count; }), shown.end());
  const int taken = static_cast<int>(shown.size());
  const std::string number = number_of(s.lab);
  const bool solved = fs::exists(root_dir() / "solutions" / s.lab.name / task.file);  // students' copies have none
  auto tell = [&](int i, const std::string& answers) {
    fmt::print("Lab {}, task {}, hint {} of {}{}:\n{}\n", number, task.id, i + 1, count,
               answers.empty() ? "" : " (" + answers + " failed in your last attempt)",
               wrapped(task.hints[static_cast<std::size_t>(i)].text, 2));
  };
  if (count == 0) {
    fmt::print("Lab {}, task {} has no hints.\n", number, task.id);
    return 0;
  }
  if (again && taken == 0) {
    print_as_typed("No hint of task {} was shown yet: ./ridge hint {} {}\n", task.id, number, task.id);
    return 0;
  }
  if (again) {
    for (int i : shown) tell(i, {});
    if (taken < count) print_as_typed("{} more: ./ridge hint {} {}\n", count - taken, number, task.id);
    return 0;
  }
  if (state != nullptr && state->passed() && state->last->points >= state->last->max - 1e-9) {
    fmt::print("Task {} has full marks: there is nothing left to hint at.\n", task.id);
    if (solved) print_as_typed("  ./ridge solution {} {}   shows another way\n", number, task.id);
    return 0;
  }
  const Choice next = choose(task.hints, shown, failures(state, task));
  tell(next.hint, next.answers);
  if (taken < count) {
    Event e{"", "hint", task.id, "", ""};
    e.value = next.hint + 1;
    add_event(s.lab.name, e);
  }
  if (taken + 1 < count)
    print_as_typed("{} more: ./ridge hint {} {}\n", count - taken - 1, number, task.id);
  else if (!solved)
    print_as_typed("That was the last.\n");
  else
    print_as_typed(
        "That was the last. The solution opens once the task passes; before that with\n"
        "  ./ridge solution {} {} --give-up\n",
        number, task.id);
  return 0;
}

struct HintArguments {
  std::string lab, task;
  bool again = false;
};

}  // namespace

void add_hint(Commands& ridge) {
  CLI::App* command = ridge.add("hint", "Show one more hint each time",
                                "  ridge hint 01                   for the next task that has not passed\n"
                                "  ridge hint 01 transpose\n  ridge hint 01 transpose --again");
  auto a = std::make_shared<HintArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("task", a->task, kTaskHelp);
  command->add_flag("--again", a->again, "Repeat the hints that you have seen");
  ridge.set_action(command, [a] { return show_hint(a->lab, a->task, a->again); });
}

}  // namespace ridge
