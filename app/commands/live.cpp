// ridge live starts the collector of results with its leaderboard, which is a program of its own.
#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

int collect(const std::vector<std::string>& listen) {
  const fs::path program = build_dir() / "bin" / "ridge-live";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the collector is not built here",
                prebuilt() ? "ask for a package made by `./ridge package tarball --with live`, or build in a clone"
                           : "start it through ./ridge live, which installs what it needs (libcpp-httplib-dev)");
  std::vector<std::string> argv = {program.string()};
  argv.insert(argv.end(), listen.begin(), listen.end());
  become(argv);
}

}  // namespace

void add_live(Commands& ridge) {
  CLI::App* command = ridge.add("live", "Collect results over HTTP and show the leaderboard",
                                "  ridge live                      on this machine only\n"
                                "  ridge live --listen 0.0.0.0:8080");
  auto listen = std::make_shared<std::vector<std::string>>();
  command->add_option("--listen", *listen, "ADDRESS:PORT (default: 127.0.0.1:8080, this machine only)")->expected(1);
  ridge.set_action(command, [listen] { return collect(*listen); });
}

}  // namespace ridge
