// ridge-serve: a lab in a browser tab, for one person. A program of its own, so that `ridge` itself needs no HTTP library
// where it travels.
//
//   ridge-serve --lab PORT IDLE ADDRESS LAB HOST...      LAB may be empty; PORT 0: the first free one from 8765; IDLE:
//                                                        seconds without a request after which it ends, 0: never
//   ridge-serve --web PORT IDLE ADDRESS WORD...          the visualizer alone: files, --view=ID, --set=KEY=VALUE
//   ridge-serve --class PORT IDLE ADDRESS COURSE LAB GRADEBOOK   the instructor's page of a lab
//
// RIDGE_SERVE_TOKEN: the token of the address, where a portal has to know it before the server runs.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/report.hpp"
#include "serve/class_page.hpp"
#include "serve/net/server.hpp"
#include "serve/open_browser.hpp"
#include "serve/routes.hpp"
#include "serve/token.hpp"
#include "serve/viz_page.hpp"

namespace {

constexpr int kFirstPort = 8765, kPorts = 40;

constexpr const char* kLoopback = "127.0.0.1";
constexpr std::size_t kStrangers = 40;  // of one address, where others than this machine's users can connect

int listen_somewhere(ridge::net::Server& server, const std::string& host, int wanted) {
  if (wanted != 0) return server.listen(host, wanted);
  for (int port = kFirstPort; port < kFirstPort + kPorts; ++port)
    if (server.listen(host, port) > 0) return port;
  return server.listen(host, 0);
}

std::string tell_address(const char* what, const char* risk, const std::string& address, int port,
                         const std::string& token) {
  char name[256] = "this-machine";
  gethostname(name, sizeof name - 1);
  const char* user = std::getenv("USER");
  const bool loopback = address == kLoopback;
  const std::string url = fmt::format("http://{}:{}/{}/", loopback ? kLoopback : name, port, token);
  fmt::print("{:<12} {}\n", what, url);
  if (loopback)
    fmt::print("Over SSH:    ssh -L {0}:127.0.0.1:{0} {1}{2}{3}   then open that address on your own machine\n", port,
               user != nullptr ? user : "", user != nullptr ? "@" : "", name);
  else
    fmt::print("It listens on {}, for a portal: what passes between the two is not encrypted.\n", address);
  fmt::print("Whoever has this address can {}: keep it to yourself.\nCtrl-C ends.\n", risk);
  std::fflush(stdout);
  return url;
}

// Children, and with them submissions, do not inherit the token.
std::string given_token() {
  const char* given = std::getenv("RIDGE_SERVE_TOKEN");
  if (given == nullptr) return ridge::serve::new_token();
  const std::string token = given;
  unsetenv("RIDGE_SERVE_TOKEN");
  if (token.size() < 32 || token.size() > 128 || token.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw ridge::Error(ridge::Exit::usage, "RIDGE_SERVE_TOKEN is not 32 to 128 hexadecimal digits in lower case",
                       "RIDGE_SERVE_TOKEN=$(openssl rand -hex 16)");
  return token;
}

struct Arguments {
  std::string what;  // "--lab", "--web", "--class"
  int port = 0;
  double idle = 0;
  std::string address;
  std::vector<std::string> rest;
};

Arguments read_arguments(std::vector<std::string> words) {
  words.resize(std::max<std::size_t>(words.size(), 5));
  Arguments a;
  a.what = words[0];
  a.port = std::atoi(words[1].c_str()), a.idle = std::atof(words[2].c_str());
  a.address = words[3].empty() ? kLoopback : words[3];
  a.rest.assign(words.begin() + 4, words.end());
  return a;
}

// Routes, VizPage or ClassPage.
template <class Page>
void serve_page(Page& page, const char* what, const Arguments& a, const std::string& token,
                const std::function<void()>& ends) {
  ridge::net::Limits limits;
  limits.body_bytes = ridge::serve::kMostBody;
  if (a.address != kLoopback) limits.strangers = kStrangers;
  ridge::net::Server server(limits, page.site());
  page.set_loop(server.loop());
  const int port = listen_somewhere(server, a.address, a.port);
  if (port <= 0)
    throw ridge::Error(ridge::Exit::environment,
                       a.address == kLoopback ? fmt::format("port {} is taken on this machine", a.port)
                                              : fmt::format("cannot listen on {}, port {}", a.address, a.port),
                       "another --port, or none: then a free one is chosen");
  const char* risk = a.what == "--lab"   ? "edit your files and run your code"
                     : a.what == "--web" ? "see what it shows"
                                         : "see the names and grades of the class";
  const ridge::fs::path folder = ridge::work_dir() / ".ridge" / "serve";
  const ridge::fs::path way = folder / fmt::format("{}.html", port);
  std::error_code ec;
  ridge::fs::remove(folder / "token", ec);  // of earlier versions, whose token outlived a crash
  ridge::fs::remove(way, ec);               // of a server that crashed
  ridge::serve::open_browser(tell_address(what, risk, a.address, port, token), way);
  server.run([&] { return a.idle <= 0 || page.idle_seconds() <= a.idle; }, ends);
  ridge::fs::remove(way, ec);
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ridge;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit fails, as on a full disk
  const Arguments a = read_arguments({argv + 1, argv + argc});
  const std::string token = given_token();
  const fs::path programs = build_dir() / "bin";
  if (a.what == "--web") {
    serve::VizPage page(programs / "ridge-viz", token, a.rest);
    serve_page(page, "The page:", a, token, [] {});
    fmt::print("\nEnded.\n");
  } else if (a.what == "--class" && a.rest.size() == 3) {
    serve::ClassPage page(programs / "ridge", token, a.rest[0], a.rest[1], a.rest[2]);
    serve_page(page, "The class:", a, token, [] {});
    fmt::print("\nEnded.\n");
  } else {
    serve::Portals portals;
    for (std::size_t i = 1; i < a.rest.size(); ++i) portals.push_back(serve::read_portal(a.rest[i]));
    serve::Routes routes(programs / "ridge", token, a.rest[0], portals);
    serve_page(routes, "The lab:", a, token, [&] { routes.end(); });
    fmt::print("\nEnded. Your files are in {}\n", shown(work_dir()));
  }
  return 0;
} catch (const ridge::Error& e) {
  ridge::print_error(e);
  return static_cast<int>(e.code);
}
