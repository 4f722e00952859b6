// ridge-serve: a lab in a browser tab, for one person. A program of its own, so that `ridge` itself needs no HTTP library
// where it travels.
//
//   ridge-serve LAB PORT IDLE HOST...    LAB may be empty; PORT 0: the first free one from 8765; IDLE: seconds without
//                                        a request after which it ends, 0: never
#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/live/connections.hpp"
#include "grader/result/report.hpp"
#include "serve/routes.hpp"
#include "serve/token.hpp"

namespace {

constexpr int kFirstPort = 8765, kPorts = 40;
constexpr std::size_t kThreads = 48, kMostConnections = 40;
constexpr double kLongestConnection = 60;  // a client that sends a byte now and then holds a thread no longer

int bind_server(httplib::Server& server, int wanted) {
  const char* host = "127.0.0.1";
  if (wanted != 0) return server.bind_to_port(host, wanted) ? wanted : -1;
  for (int port = kFirstPort; port < kFirstPort + kPorts; ++port)
    if (server.bind_to_port(host, port)) return port;
  return server.bind_to_any_port(host);
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
  sigset_t ends;             // a thread waits for them; all others have them blocked
  sigemptyset(&ends);
  for (int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, s);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const fs::path token_file = work_dir() / ".ridge" / "serve" / "token";
  const std::string token = serve::kept_token(token_file);
  serve::Routes routes(build_dir() / "bin" / "ridge", token, argc > 1 ? argv[1] : "",
                       {argv + std::min(argc, 4), argv + argc});
  httplib::Server server;
  server.set_read_timeout(10);
  server.set_write_timeout(10);
  server.set_keep_alive_max_count(200);
  server.set_socket_options([](socket_t s) {
    const int yes = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  routes.serve(server);
  const int wanted = argc > 2 ? std::atoi(argv[2]) : 0;
  const double idle = argc > 3 ? std::atof(argv[3]) : 0;
  const int port = bind_server(server, wanted);
  if (port <= 0)
    throw Error(Exit::environment, fmt::format("port {} is taken on this machine", wanted),
                "another --port, or none: then a free one is chosen");
  tell_address(port, token);
  const live::ConnectionWatch watch(kLongestConnection, kMostConnections, 1);
  std::thread waits([&] {
    const timespec second{1, 0};
    while (sigtimedwait(&ends, nullptr, &second) < 0 && !(idle > 0 && routes.idle_seconds() > idle)) {
    }
    routes.end();
    server.stop();
  });
  server.listen_after_bind();
  waits.join();
  // Tabs go on asking at this address, where somebody else may listen from now on: their token is worth nothing then.
  std::error_code ec;
  fs::remove(token_file, ec);
  fmt::print("\nEnded. Your files are in {}\n", shown(work_dir()));
  return 0;
} catch (const ridge::Error& e) {
  ridge::print_error(e);
  return static_cast<int>(e.code);
}
