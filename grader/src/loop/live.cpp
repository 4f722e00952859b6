// live, and sending to it: a small HTTP client (RFC 9112), so that laptops need no library for it.
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "loop/loop_commands.hpp"
#include "process.hpp"
#include "result.hpp"
#include "text.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr int kSeconds = 5;  // to connect, to send, to be answered

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// This machine's own name for the collector, so that nobody else can overwrite what it sent.
std::string client_id() {
  const fs::path file = work_dir() / ".ridge" / "live-client";
  std::string id = file_text(file);
  if (id.size() != 32) {
    id = new_nonce();
    write_durably(file, id);
  }
  return id;
}

struct Url {
  std::string host, port = "80", path;
};

Url parse(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  const std::string advice = "as in --live http://192.0.2.7:8080, which `ridge live` prints";
  if (url.rfind("https://", 0) == 0) throw Error(Exit::usage, "ridge live speaks http, not https", advice);
  const std::string rest = url.rfind(scheme, 0) == 0 ? url.substr(scheme.size()) : url;
  Url u;
  std::string place = rest.substr(0, rest.find('/'));
  const bool bracket = !place.empty() && place[0] == '[';
  const auto colon = bracket ? place.find("]:") : place.rfind(':');
  if (colon != std::string::npos) {
    u.port = place.substr(colon + (bracket ? 2 : 1));
    place.resize(colon + (bracket ? 1 : 0));
  }
  if (bracket && place.size() > 2) place = place.substr(1, place.size() - 2);
  u.host = place;
  if (u.host.empty() || u.port.empty() || u.port.find_first_not_of("0123456789") != std::string::npos ||
      u.host.find_first_of(" \r\n") != std::string::npos)
    throw Error(Exit::usage, fmt::format("'{}' is no address", url), advice);
  return u;
}

struct Socket {
  int fd = -1;
  ~Socket() {
    if (fd >= 0) close(fd);
  }
};

// The response's first 4 KiB; throws with what went wrong.
std::string post(const Url& u, const std::string& token, const std::string& body) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int e = getaddrinfo(u.host.c_str(), u.port.c_str(), &hints, &found); e != 0)
    throw Error(Exit::environment, fmt::format("{}: {}", u.host, gai_strerror(e)), "");
  Socket s;
  int failed_with = 0;
  for (const addrinfo* a = found; a != nullptr && s.fd < 0; a = a->ai_next) {
    s.fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (s.fd < 0) continue;
    const timeval limit{kSeconds, 0};
    setsockopt(s.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(s.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(s.fd, a->ai_addr, a->ai_addrlen) == 0) break;
    failed_with = errno;
    close(s.fd);
    s.fd = -1;
  }
  freeaddrinfo(found);
  if (s.fd < 0)
    throw Error(Exit::environment, fmt::format("{}:{}: {}", u.host, u.port, std::strerror(failed_with)), "");
  const std::string request = fmt::format(
      "POST /api/result HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nX-Ridge-Token: {}\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      u.host, token, body.size(), body);
  for (std::size_t at = 0; at < request.size();) {
    const ssize_t n = send(s.fd, request.data() + at, request.size() - at, MSG_NOSIGNAL);
    if (n <= 0)
      throw Error(Exit::environment, fmt::format("{}:{} does not take it: {}", u.host, u.port, std::strerror(errno)),
                  "");
    at += static_cast<std::size_t>(n);
  }
  std::string answer;
  char buffer[1024];
  while (answer.size() < 4096) {
    const ssize_t n = recv(s.fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  return answer;
}

}  // namespace

void send_live(const std::string& url, const std::string& name_given, const std::string& token_given, const Result& r) {
  const Url u = parse(url);
  std::string name = !name_given.empty() ? name_given : variable("RIDGE_LIVE_NAME");
  if (name.empty()) name = variable("USER");
  if (name.empty()) name = "somebody";
  const std::string token = !token_given.empty() ? token_given : variable("RIDGE_LIVE_TOKEN");
  if (token.find_first_of("\r\n") != std::string::npos) throw Error(Exit::usage, "the token holds a line break", "");
  json j = {{"name", printable(name)}, {"client", client_id()}, {"lab", r.lab},
            {"backend", r.backend},    {"mode", r.mode},        {"tasks", json::array()}};
  for (const TaskResult& t : r.tasks)
    j["tasks"].push_back({{"id", t.id}, {"status", t.status}, {"points", t.points}, {"max", t.max}});
  try {
    const std::string answer = post(u, token, j.dump(-1, ' ', false, json::error_handler_t::replace));
    const bool http = answer.rfind("HTTP/1.", 0) == 0 && answer.size() > 12;
    const std::string code = http ? answer.substr(9, 3) : "";
    const auto body = answer.find("\r\n\r\n");
    const std::string said = printable(body == std::string::npos ? "" : answer.substr(body + 4));
    if (code == "200")
      fmt::print(stderr, "  Sent to {}\n", url);
    else
      fmt::print(stderr, "ridge: {} did not take the result: {} {}\n", url, http ? code : "no HTTP answer", said);
  } catch (const Error& e) {
    fmt::print(stderr,
               "ridge: the result was not sent: {}\n  try: check the address, and that this network lets machines talk "
               "to each other\n",
               e.what());
  }
}

int live(const std::vector<std::string>& listen) {
  const fs::path program = build_dir() / "bin" / "ridge-live";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the collector is not built here",
                "start it through ./ridge live, which installs what it needs (libcpp-httplib-dev)");
  std::vector<std::string> argv = {program.string()};
  argv.insert(argv.end(), listen.begin(), listen.end());
  become(argv);
}

}  // namespace ridge::loop
