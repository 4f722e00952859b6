// ridge watch checks again whenever a file is saved.
#include "app/grading/watch.hpp"

#include "app/cli/command.hpp"

namespace ridge {

void add_watch(Commands& ridge) {
  CLI::App* command = ridge.add(
      "watch", "Check again whenever you save, the task of the file first",
      "  ridge watch 01                  all tasks, that of the saved file first\n  ridge watch 03 --task scan");
  auto a = std::make_shared<loop::WatchArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("--task", a->task, "Only this task");
  add_backend_option(*command, a->backend);
  command->add_flag("--once", a->once, "Wait for one save, check, and end");
  ridge.set_action(command, [a] { return loop::watch(*a); });
}

}  // namespace ridge
