// ridge live starts the collector of results with its leaderboard, which is a program of its own.
#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/live/kick.hpp"

namespace ridge {

namespace {

struct LiveArguments {
  std::string listen, board, kick, readmit;
  bool anew = false;
};

int collect(const LiveArguments& a) {
  const fs::path board =
      fs::absolute(a.board.empty() ? work_dir() / ".ridge" / "live" / "board.jsonl" : fs::path(a.board));
  if (!a.kick.empty() || !a.readmit.empty()) {
    loop::kick_live(board, a.kick.empty() ? a.readmit : a.kick, a.kick.empty());
    return 0;
  }
  const fs::path program = build_dir() / "bin" / "ridge-live";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the collector is not built here",
                prebuilt() ? "ask for a package made by `./ridge package tarball --with live`, or build in a clone"
                           : "start it through ./ridge live, which installs what it needs (libboost-dev)");
  std::vector<std::string> argv = {program.string(), a.listen, board.string()};
  if (a.anew) argv.emplace_back("--new");
  become(argv);
}

}  // namespace

void add_live(Commands& ridge) {
  CLI::App* command = ridge.add("live", "Collect results over HTTP and show the leaderboard",
                                "  ridge live                      on this machine only\n"
                                "  ridge live --listen 0.0.0.0:8080\n"
                                "  ridge live --kick \"Ada (2)\"");
  auto a = std::make_shared<LiveArguments>();
  a->listen = "127.0.0.1:8080";
  command->add_option("--listen", a->listen, "ADDRESS:PORT (default: 127.0.0.1:8080, this machine only)")->expected(1);
  command->add_option("--board", a->board, "File that keeps the board (default: work/.ridge/live/board.jsonl)");
  CLI::Option* anew =
      command->add_flag("--new", a->anew, "Begin another board; the file of before gets the date as an ending");
  CLI::Option* kick = command->add_option("--kick", a->kick, "Take a name off the board that is running here");
  command->add_option("--readmit", a->readmit, "Put it back")->excludes(kick)->excludes(anew);
  kick->excludes(anew);
  ridge.set_action(command, [a] { return collect(*a); });
}

}  // namespace ridge
