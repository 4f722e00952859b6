// ridge-serve: a lab in a browser tab, for one person. A program of its own, so that `ridge` itself needs no HTTP library
// where it travels.
//
//   ridge-serve LAB PORT IDLE HOST...    LAB may be empty; PORT 0: the first free one from 8765; IDLE: seconds without
//                                        a request after which it ends, 0: never
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/report.hpp"
#include "serve/net/server.hpp"
#include "serve/routes.hpp"
#include "serve/token.hpp"

namespace {

constexpr int kFirstPort = 8765, kPorts = 40;

int listen_somewhere(ridge::net::Server& server, int wanted) {
  const char* host = "127.0.0.1";
  if (wanted != 0) return server.listen(host, wanted);
  for (int port = kFirstPort; port < kFirstPort + kPorts; ++port)
    if (server.listen(host, port) > 0) return port;
  return server.listen(host, 0);
}

void tell_address(int port, const std::string& token) {
  char name[256] = "this-machine";
  gethostname(name, sizeof name - 1);
  const char* user = std::getenv("USER");
  fmt::print("The lab:     http://127.0.0.1:{}/{}/\n", port, token);
  fmt::print("Over SSH:    ssh -L {0}:127.0.0.1:{0} {1}{2}{3}   then open that address on your own machine\n", port,
             user != nullptr ? user : "", user != nullptr ? "@" : "", name);
  fmt::print("Whoever has this address can edit your files and run your code: keep it to yourself.\nCtrl-C ends.\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ridge;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit fails, as on a full disk
  const fs::path token_file = work_dir() / ".ridge" / "serve" / "token";
  const std::string token = serve::kept_token(token_file);
  serve::Routes routes(build_dir() / "bin" / "ridge", token, argc > 1 ? argv[1] : "",
                       {argv + std::min(argc, 4), argv + argc});
  net::Limits limits;
  limits.body_bytes = serve::kMostBody;
  net::Server server(limits, routes.site());
  const int wanted = argc > 2 ? std::atoi(argv[2]) : 0;
  const double idle = argc > 3 ? std::atof(argv[3]) : 0;
  const int port = listen_somewhere(server, wanted);
  if (port <= 0)
    throw Error(Exit::environment, fmt::format("port {} is taken on this machine", wanted),
                "another --port, or none: then a free one is chosen");
  tell_address(port, token);
  server.run([&] { return idle <= 0 || routes.idle_seconds() <= idle; }, [&] { routes.end(); });
  // Tabs go on asking at this address, where somebody else may listen from now on: their token is worth nothing then.
  std::error_code ec;
  fs::remove(token_file, ec);
  fmt::print("\nEnded. Your files are in {}\n", shown(work_dir()));
  return 0;
} catch (const ridge::Error& e) {
  ridge::print_error(e);
  return static_cast<int>(e.code);
}
