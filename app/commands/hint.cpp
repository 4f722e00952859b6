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

int show_hint(const std::string& key, const std::string& name, bool again) {
  const LabState s = state_of(find_lab(key));
  const Task& task = task_or_next(s, name);
  const int count = static_cast<int>(task.hints.size()),
            taken = std::min(hints_taken(journal(s.lab.name), task.id), count);
  const std::string number = number_of(s.lab);
  if (count == 0) {
    fmt::print("Lab {}, task {} has no hints.\n", number, task.id);
    return 0;
  }
  const bool all_shown = taken == count;
  const int first = again ? 0 : all_shown ? count - 1 : taken, last = again ? taken : std::min(taken + 1, count);
  if (again && taken == 0) {
    print_as_typed("No hint of task {} was shown yet: ./ridge hint {} {}\n", task.id, number, task.id);
    return 0;
  }
  for (int i = first; i < last; ++i)
    fmt::print("Lab {}, task {}, hint {} of {}:\n{}\n", number, task.id, i + 1, count,
               wrapped(task.hints[static_cast<std::size_t>(i)], 2));
  if (!again && !all_shown) add_event(s.lab.name, {"", "hint", task.id, "", ""});
  if (last < count)
    print_as_typed("{} more: ./ridge hint {} {}\n", count - last, number, task.id);
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
  CLI::App* command = ridge.add("hint", "One hint more each time",
                                "  ridge hint 01                   for the next task that has not passed\n"
                                "  ridge hint 01 transpose\n  ridge hint 01 transpose --again");
  auto a = std::make_shared<HintArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("task", a->task, kTaskHelp);
  command->add_flag("--again", a->again, "Those you have seen, once more");
  ridge.set_action(command, [a] { return show_hint(a->lab, a->task, a->again); });
}

}  // namespace ridge
