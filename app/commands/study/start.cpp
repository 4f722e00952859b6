// ridge start makes a student's own copy of a lab.
#include "app/cli/command.hpp"
#include "app/grading/own_work.hpp"

namespace ridge {

void add_start(Commands& ridge) {
  CLI::App* command = ridge.add("start", "Make your copy of a lab under work/", "  ridge start 01");
  auto lab = std::make_shared<std::string>();
  command->add_option("lab", *lab, kLabHelp)->required();
  ridge.set_action(command, [lab] { return start_work(*lab); });
}

}  // namespace ridge
