// ridge-live: takes results of laptops over HTTP and shows the leaderboard. A program of its own, so that `ridge`
// itself needs no HTTP library where it travels.
#include <fmt/format.h>
#include <httplib.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "board.hpp"
#include "connections.hpp"
#include "page.hpp"

namespace {

httplib::Server* running = nullptr;

std::string new_token() {  // 8 letters and digits that nobody confuses, to be typed from a projector
  constexpr std::string_view letters = "abcdefghjkmnpqrstuvwxyz23456789x";
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) std::abort();
  std::string token;
  for (unsigned char b : bytes) token += letters[b % letters.size()];
  return token;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ridge::live;
  signal(SIGPIPE, SIG_IGN);
  const std::string listen = argc > 1 ? argv[1] : "127.0.0.1:8080";
  const auto colon = listen.rfind(':');
  const std::string host = colon == std::string::npos ? listen : listen.substr(0, colon);
  const std::string port_text = colon == std::string::npos ? "8080" : listen.substr(colon + 1);
  const bool digits =
      !port_text.empty() && port_text.size() < 6 && port_text.find_first_not_of("0123456789") == std::string::npos;
  const int wanted = digits ? std::atoi(port_text.c_str()) : -1;
  if (host.empty() || wanted < 0 || wanted > 65535) {
    fmt::print(stderr, "ridge: '{}' is no ADDRESS:PORT\n  try: --listen 0.0.0.0:8080 for the whole network\n", listen);
    return 2;
  }
  const char* given = std::getenv("RIDGE_LIVE_TOKEN");
  const std::string token = given != nullptr && *given != 0 ? given : new_token();

  Board board;
  RateLimit posts(20, 1), reads(60, 5);
  httplib::Server server;
  server.set_payload_max_length(kMostBody);
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  server.set_keep_alive_max_count(20);
  // A request takes milliseconds. Threads outnumber the connections that there may be, so that a new one finds one.
  constexpr std::size_t kMostConnections = 96, kThreads = 128;
  constexpr double kLongestConnection = 10;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  const ConnectionWatch watch(kLongestConnection, kMostConnections);
  server.set_default_headers(
      {{"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cache-Control", "no-store"}});
  auto page = [&](const char* path, const char* text, const char* type) {
    server.Get(path, [&reads, text, type](const httplib::Request& in, httplib::Response& out) {
      if (!reads.allows(in.remote_addr)) {
        out.status = 429;
        return;
      }
      out.set_content(text, type);
    });
  };
  page("/", kPage, "text/html; charset=utf-8");
  page("/style.css", kStyle, "text/css");
  page("/board.js", kScript, "text/javascript");
  server.Get("/api/board", [&](const httplib::Request& in, httplib::Response& out) {
    if (!reads.allows(in.remote_addr)) {
      out.status = 429;
      return;
    }
    out.set_content(board.as_json(), "application/json");
  });
  server.Post("/api/result", [&](const httplib::Request& in, httplib::Response& out) {
    auto refuse = [&](int status, const std::string& why) {
      out.status = status;
      out.set_content(why, "text/plain");
    };
    if (!posts.allows(in.remote_addr)) return refuse(429, "too many results in a short time; wait a moment");
    if (!same_token(in.get_header_value("X-Ridge-Token"), token)) return refuse(403, "the room's token is another one");
    if (const std::string why = board.take(in.body); !why.empty()) return refuse(400, why);
    out.set_content("taken", "text/plain");
  });

  int port = wanted;
  const bool bound = wanted == 0 ? (port = server.bind_to_any_port(host)) > 0 : server.bind_to_port(host, wanted);
  if (!bound) {
    fmt::print(stderr, "ridge: cannot listen on {}\n  try: another port, or an address of this machine\n", listen);
    return 3;
  }
  const bool everywhere = host == "0.0.0.0" || host == "::";
  char name[256] = "this-machine";
  gethostname(name, sizeof name - 1);
  const std::string url = fmt::format("http://{}:{}", everywhere ? name : host.c_str(), port);
  fmt::print("The board:  {}/\nThe token:  {}\nLaptops:    ridge check 01 --live {} --live-token {}\n", url, token, url,
             token);
  if (!everywhere) fmt::print("Only this machine can reach it; --listen 0.0.0.0:{} opens it to the network.\n", port);
  fmt::print("Ctrl-C ends; the board is then gone.\n");
  std::fflush(stdout);
  running = &server;
  struct sigaction action {};
  action.sa_handler = [](int) { running->stop(); };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  server.listen_after_bind();
  fmt::print("\nEnded. The last board:\n{}\n", board.as_json());
  return 0;
}
