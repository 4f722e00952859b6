// ridge-live: takes results of laptops over HTTP and shows the leaderboard. A program of its own, so that `ridge`
// itself needs no HTTP library where it travels.
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "grader/base/error.hpp"
#include "serve/live/live_site.hpp"

namespace {

// Letters and digits that nobody confuses, to be typed from a projector.
std::string new_token(std::size_t length) {
  constexpr std::string_view letters = "abcdefghjkmnpqrstuvwxyz23456789x";
  std::string token(length, 0);
  if (getrandom(token.data(), length, 0) != static_cast<ssize_t>(length)) std::abort();
  for (char& c : token) c = letters[static_cast<unsigned char>(c) % letters.size()];
  return token;
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

  LiveSite site(board, file ? &*file : nullptr, token, host_key);
  ridge::net::Server server(live_limits(), site.site());
  const int port = server.listen(host, wanted);
  if (port < 0) {
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
  if (file) {
    file->set_address(fmt::format("{}:{}", everywhere ? "127.0.0.1" : host.c_str(), port));
    if (known > 0)
      fmt::print("Goes on with the board of before: {} participants. --new begins another one.\n", board.players());
    fmt::print("Ctrl-C ends; the same command goes on with the board.\n");
  } else {
    fmt::print("Ctrl-C ends; the board is then gone.\n");
  }
  std::fflush(stdout);
  server.run(
      [&] {
        site.tell_changes();
        return true;
      },
      [] {});
  if (file)
    fmt::print("\nEnded. The board is kept in {}\n", argv[2]);
  else
    fmt::print("\nEnded. The last board:\n{}\n", board.as_json());
  return 0;
} catch (const ridge::Error& e) {
  fmt::print(stderr, "ridge: {}\n  try: {}\n", e.what(), e.advice);
  return static_cast<int>(e.code);
}
