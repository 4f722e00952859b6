#include "learn/live/http.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "grader/base/error.hpp"

namespace ridge::loop {

namespace {

constexpr int kSeconds = 5;  // limit for each of connecting, sending and receiving

struct Socket {
  int fd = -1;
  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd >= 0) close(fd);
  }
};

// Throws an environment error that says what went wrong.
void connect_to(const Url& u, Socket& s) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int e = getaddrinfo(u.host.c_str(), u.port.c_str(), &hints, &found); e != 0)
    throw Error(Exit::environment, fmt::format("{}: {}", u.host, gai_strerror(e)), "");
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
}

}  // namespace

Url parse_url(const std::string& url) {
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

Answer http(const Url& u, const std::string& method, const std::string& path,
            const std::vector<std::pair<std::string, std::string>>& headers, const std::string& body,
            std::size_t most) {
  Socket s;
  connect_to(u, s);
  std::string request = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", method, path, u.host);
  for (const auto& [name, value] : headers) request += fmt::format("{}: {}\r\n", name, value);
  request += fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  for (std::size_t at = 0; at < request.size();) {
    const ssize_t n = send(s.fd, request.data() + at, request.size() - at, MSG_NOSIGNAL);
    if (n <= 0)
      throw Error(Exit::environment, fmt::format("{}:{} does not take it: {}", u.host, u.port, std::strerror(errno)),
                  "");
    at += static_cast<std::size_t>(n);
  }
  std::string text;
  char buffer[4096];
  while (text.size() < most) {
    const ssize_t n = recv(s.fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  Answer answer;
  if (text.rfind("HTTP/1.", 0) == 0 && text.size() > 12) answer.code = std::atoi(text.substr(9, 3).c_str());
  const auto end = text.find("\r\n\r\n");
  if (end != std::string::npos) answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace ridge::loop
