#include <memory>

#include "cluster/src/commands/registry.hpp"
#include "cluster/src/intake/handing_in.hpp"

namespace ridge::cluster {

void add_submit(Commands& ridge) {
  CLI::App* command = ridge.add("submit", kSubmitHelp, "  ridge submit 03");
  auto a = std::make_shared<SubmitArguments>();
  command->add_option("lab", a->lab, "Lab")->required();
  command->add_option("--submission", a->submission, "Folder with the lab's files (default: work/NN_name)");
  command->add_option("--to", a->dropbox, "The course's folder (default: RIDGE_DROPBOX, else course.toml's)");
  command->add_flag("--unchecked", a->unchecked, "Without checking it here first");
  ridge.set_action(command, [a] { return submit_work(*a); });
}

}  // namespace ridge::cluster
