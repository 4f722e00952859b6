#include "app/classes/classes.hpp"

#include <filesystem>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#ifdef RIDGE_HAVE_CLUSTER
#include "cluster/src/commands/cluster_commands.hpp"
#include "cluster/src/intake/handing_in.hpp"
#endif

namespace ridge {

#ifdef RIDGE_HAVE_CLUSTER

void add_class_commands(Commands& ridge) { cluster::add_commands(ridge); }

int grade_as_job(const std::string& lab, std::vector<std::string> words) {
  std::erase(words, "--slurm");
  words[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  return cluster::grade_through_slurm(lab, words);
}

#else

namespace {

[[noreturn]] int not_built() {
  throw Error(Exit::environment, "the commands for classes are not built here",
              "run `./ridge build class`; it needs libsqlite3-dev and libarchive-dev");
}

}  // namespace

void add_class_commands(Commands& ridge) {
  for (const auto& [name, what] : {std::pair("cluster", kClusterHelp), std::pair("submit", kSubmitHelp)}) {
    CLI::App* command = ridge.add(name, what);
    command->allow_extras();
    ridge.set_action(command, not_built);
  }
}

int grade_as_job(const std::string&, std::vector<std::string>) { not_built(); }

#endif

}  // namespace ridge
