// ridge hint shows one more hint each time, and notes it in the journal.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/hints.hpp"

namespace ridge {

namespace {

using namespace loop;

int show_hint(const std::string& key, const std::string& name, bool again) {
  const LabState s = state_of(find_lab(key));
  const Task& task = task_or_next(s, name);
  const TaskState* state = nullptr;
  for (const TaskState& t : s.tasks)
    if (t.id == task.id) state = &t;
  const std::vector<int> shown = hints_seen(s.lab, task);
  const int count = static_cast<int>(task.hints.size());
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
  const HintChoice next = next_hint(task, state, shown);
  tell(next.hint, next.answers);
  if (taken < count) note_hint(s.lab, task, next.hint);
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
