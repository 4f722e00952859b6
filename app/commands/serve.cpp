// ridge serve shows a lab in a browser tab; the server is a program of its own.
#include <cstdio>

#include "app/cli/command.hpp"
#include "app/grading/own_work.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

int serve_lab(const std::string& key, int port, double idle, const std::string& address,
              const std::vector<std::string>& hosts) {
  std::string lab;
  if (!key.empty()) {
    const Lab found = find_lab(key);
    own_folder(found);
    lab = found.name;
  }
  const fs::path program = build_dir() / "bin" / "ridge-serve";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the server is not built here",
                prebuilt() ? "ask for a package made by `./ridge package tarball --with serve`, or build in a clone"
                           : "start it through ./ridge serve, which installs what it needs");
  std::fflush(stdout);
  std::vector<std::string> argv = {program.string(),          "--lab", std::to_string(port),
                                   std::to_string(idle * 60), address, lab};
  argv.insert(argv.end(), hosts.begin(), hosts.end());
  become(argv);
}

}  // namespace

void add_serve(Commands& ridge) {
  CLI::App* command = ridge.add("serve", "A lab in a browser tab: the lesson, an editor, and the result",
                                "  ridge serve 01                  prints the address to open; Ctrl-C ends\n"
                                "  ridge serve 01 --port 8800");
  auto lab = std::make_shared<std::string>();
  auto port = std::make_shared<int>(0);
  command->add_option("lab", *lab, "Lab to open: 01, 01_coalescing or coalescing (default: the next one)");
  command->add_option("--port", *port, "Port to listen on (default: the first free one from 8765)")
      ->check(CLI::Range(1, 65535));
  auto hosts = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("--host", *hosts,
                   "Portal, as browsers show it: ondemand.example.edu, or "
                   "http://hub.example.edu:8000")
      ->allow_extra_args(false);
  auto address = std::make_shared<std::string>();
  command->add_option("--listen", *address,
                      "Address to listen on, for a portal on another machine (default: 127.0.0.1)");
  auto idle = std::make_shared<double>(720);
  command->add_option("--idle", *idle, "Minutes without a request after which it ends (default: 720; 0: never)")
      ->check(CLI::NonNegativeNumber);
  ridge.set_action(command,
                   [lab, port, idle, address, hosts] { return serve_lab(*lab, *port, *idle, *address, *hosts); });
}

}  // namespace ridge
