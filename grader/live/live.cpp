// ridge-live: takes results of laptops over HTTP and shows the leaderboard. A program of its own, so that `ridge`
// itself needs no HTTP library where it travels.
#include <fmt/format.h>
#include <httplib.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "board.hpp"
#include "board_file.hpp"
#include "connections.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "page.hpp"

namespace {

httplib::Server* running = nullptr;

// Letters and digits that nobody confuses, to be typed from a projector.
std::string new_token(std::size_t length) {
  constexpr std::string_view letters = "abcdefghjkmnpqrstuvwxyz23456789x";
  std::string token(length, 0);
  if (getrandom(token.data(), length, 0) != static_cast<ssize_t>(length)) std::abort();
  for (char& c : token) c = letters[static_cast<unsigned char>(c) % letters.size()];
  return token;
}

nlohmann::json read_object(const std::string& body) {
  nlohmann::json j = nlohmann::json::parse(
      body, [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth < 2; }, false);
  return j.is_object() ? j : nlohmann::json::object();
}

// As many descriptors as there may be, for a class that sends at one moment.
void raise_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

// ridge-live [ADDRESS:PORT [FILE [--new]]]: without a file the board ends with the program.
int main(int argc, char** argv) try {
  using namespace ridge::live;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit fails, as on a full disk
  raise_descriptors();
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
  std::string token = given != nullptr ? given : "", host_key;

  Board board;
  std::optional<BoardFile> file;
  std::size_t known = 0;
  if (argc > 2) {
    file.emplace(argv[2], argc > 3 && std::string_view(argv[3]) == "--new");
    if (token.empty()) token = file->token();
    if (token.empty()) token = new_token(8);
    file->set_keys(token, file->host_key().empty() ? new_token(32) : file->host_key());
    host_key = file->host_key();
    known = file->load(board);
  }
  if (token.empty()) token = new_token(8);

  // Many laptops may share one address. Who knows the token may send more from it than who guesses.
  RateLimit strangers(20, 1), addresses(2000, 200), laptops(20, 1), reads(60, 5);
  int listening = -1;
  httplib::Server server;
  server.set_payload_max_length(kMostBody);
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  server.set_keep_alive_max_count(20);
  // A request takes milliseconds. Threads outnumber the old connections that there may be, so that a new one finds one.
  constexpr std::size_t kMostConnections = 96, kThreads = 128;
  constexpr double kLongestConnection = 10, kYoungConnection = 2;
  constexpr int kBacklog = 1024;  // the library's own is 5, beyond which connections of one moment are dropped
  server.set_socket_options([&](socket_t s) {
    listening = s;
    const int yes = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  const ConnectionWatch watch(kLongestConnection, kMostConnections, kYoungConnection);
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
    const bool knows = same_token(in.get_header_value("X-Ridge-Token"), token);
    const std::string client = knows ? ridge::text_at(read_object(in.body), "client", 64) : "";
    if (!(knows ? addresses : strangers).allows(in.remote_addr) || (knows && !laptops.allows(client)))
      return refuse(429, "too many results in a short time; wait a moment");
    if (!knows) return refuse(403, "the room's token is another one");
    std::string line;
    if (const std::string why = board.take(in.body, &line); !why.empty())
      return refuse(why == kKicked ? 403 : why == kFull ? 507 : 400, why);
    if (file && !line.empty() && !file->add(line)) return refuse(500, "the board's disk takes nothing; try again");
    out.set_content("taken", "text/plain");
  });
  server.Post("/api/kick", [&](const httplib::Request& in, httplib::Response& out) {
    const bool is_host = !host_key.empty() && same_token(in.get_header_value("X-Ridge-Host"), host_key);
    const nlohmann::json asked = read_object(in.body);
    std::string line;
    if (!is_host) {
      out.status = strangers.allows(in.remote_addr) ? 403 : 429;
    } else if (!board.kick(ridge::text_at(asked, "name"), asked.value("back", nlohmann::json()) == true, &line)) {
      out.status = 404;
    } else if (!file->add(line)) {
      out.status = 500;
    }
  });

  int port = wanted;
  const bool bound = wanted == 0 ? (port = server.bind_to_any_port(host)) > 0 : server.bind_to_port(host, wanted);
  if (!bound) {
    fmt::print(stderr, "ridge: cannot listen on {}\n  try: another port, or an address of this machine\n", listen);
    return 3;
  }
  ::listen(listening, kBacklog);
  const bool everywhere = host == "0.0.0.0" || host == "::";
  char name[256] = "this-machine";
  gethostname(name, sizeof name - 1);
  const std::string url = fmt::format("http://{}:{}", everywhere ? name : host.c_str(), port);
  fmt::print("The board:  {}/\nThe token:  {}\nLaptops:    ridge check 01 --live {} --live-token {}\n", url, token, url,
             token);
  if (!everywhere) fmt::print("Only this machine can reach it; --listen 0.0.0.0:{} opens it to the network.\n", port);
  if (file) {
    file->set_address(fmt::format("{}:{}", everywhere ? "127.0.0.1" : host.c_str(), port));
    if (known > 0)
      fmt::print("Goes on with the board of before: {} participants. --new begins another one.\n", board.players());
    fmt::print("Ctrl-C ends; the same command goes on with the board.\n");
  } else {
    fmt::print("Ctrl-C ends; the board is then gone.\n");
  }
  std::fflush(stdout);
  running = &server;
  struct sigaction action {};
  action.sa_handler = [](int) { running->stop(); };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  server.listen_after_bind();
  if (file)
    fmt::print("\nEnded. The board is kept in {}\n", argv[2]);
  else
    fmt::print("\nEnded. The last board:\n{}\n", board.as_json());
  return 0;
} catch (const ridge::Error& e) {
  fmt::print(stderr, "ridge: {}\n  try: {}\n", e.what(), e.advice);
  return static_cast<int>(e.code);
}
