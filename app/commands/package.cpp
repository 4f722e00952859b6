// ridge package packs this build, or a lab's grader, for other machines.
#include "app/package/package.hpp"

#include "app/cli/command.hpp"

namespace ridge {

namespace {

void add_gradescope(Commands& ridge, CLI::App* package) {
  CLI::App* command = package->add_subcommand("gradescope", "An autograder for Gradescope: a zip archive to upload");
  auto a = std::make_shared<GradescopeArguments>();
  command->add_option("--lab", a->lab, kLabHelp)->required();
  command->add_option("-o,--out", a->out, "File to write (default: gradescope-NN_name.zip here)");
  command->add_option("--task", a->task, "Only this task");
  command->add_option("--limit", a->limit, "Seconds that one submission may take; below the limit that Gradescope has")
      ->check(CLI::Range(10, 2400))
      ->default_val(540);
  command->add_option("--seed-file", a->seed_file, "The course's secret seed: it will be in the archive");
  command->add_flag("--require-sandbox", a->require_sandbox, "Grade nothing where a layer of the sandbox is missing");
  ridge.set_action(command, [a] { return package_gradescope(*a); });
}

void add_prebuilt(Commands& ridge, CLI::App* package, const char* format) {
  const bool deb = std::string(format) == "deb";
  CLI::App* command = package->add_subcommand(format, deb ? "This build as a package for Debian 12 and Ubuntu 24.04"
                                                          : "This build as an archive: unpack it anywhere, and run it");
  auto a = std::make_shared<PrebuiltArguments>();
  a->format = format;
  command->add_option("-o,--out", a->out,
                      deb ? "File to write (default: ridge_VERSION_ARCHITECTURE.deb here)"
                          : "File to write (default: ridge-VERSION-SYSTEM.tar.gz here)");
  command->add_flag("--solutions", a->solutions, "With the reference solutions: not for students");
  command->add_option("--with", a->parts, "Programs that only some need: cluster, live, mpi, serve, viz")
      ->delimiter(',')
      ->check(CLI::IsMember({"cluster", "live", "mpi", "serve", "viz"}));
  ridge.set_action(command, [a] { return package_prebuilt(*a); });
}

}  // namespace

void add_package(Commands& ridge) {
  CLI::App* command = ridge.add("package", "This build, or a lab's grader, for other machines",
                                "  ridge package gradescope --lab 01 --out lab01.zip\n  ridge package tarball\n"
                                "  ridge package deb --with cluster,live --out ridge.deb");
  command->require_subcommand(1);
  add_gradescope(ridge, command);
  for (const char* format : {"tarball", "deb"}) add_prebuilt(ridge, command, format);
  auto folder = std::make_shared<std::string>();
  CLI::App* tree = command->add_subcommand("tree", "For cmake --install")->group("");
  tree->add_option("folder", *folder)->required();
  ridge.set_action(tree, [folder] { return package_tree(*folder); });
}

}  // namespace ridge
