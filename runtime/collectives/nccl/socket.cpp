#include "socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ridge::collectives {

namespace {

in_addr own_address() {
  in_addr found{};
  found.s_addr = htonl(INADDR_LOOPBACK);
  const char* name = std::getenv("NCCL_SOCKET_IFNAME");
  const char* nodes = std::getenv("SLURM_NNODES");
  const bool several = nodes != nullptr && std::atoi(nodes) > 1;
  ifaddrs* all = nullptr;
  if ((name == nullptr && !several) || getifaddrs(&all) != 0) return found;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
    const bool wanted = name != nullptr ? std::strncmp(a->ifa_name, name, std::strlen(name)) == 0
                                        : (a->ifa_flags & IFF_LOOPBACK) == 0 && (a->ifa_flags & IFF_UP) != 0;
    if (!wanted) continue;
    found = reinterpret_cast<const sockaddr_in*>(a->ifa_addr)->sin_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

}  // namespace

int listen_on_free_port(std::string& address) {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr = own_address();
  socklen_t length = sizeof at;
  if (bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || listen(s, SOMAXCONN) != 0 ||
      getsockname(s, reinterpret_cast<sockaddr*>(&at), &length) != 0) {
    const int error = errno;
    close(s);
    errno = error;
    return -1;
  }
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &at.sin_addr, text, sizeof text);
  address = std::string(text) + ":" + std::to_string(ntohs(at.sin_port));
  return s;
}

int connect_to(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in at{};
  at.sin_family = AF_INET;
  if (colon == std::string::npos || inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr) != 1) {
    errno = EINVAL;
    return -1;
  }
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  if (connect(s, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
    const int error = errno;
    close(s);
    errno = error;
    return -1;
  }
  const int on = 1;
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return s;
}

bool send_all(int s, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(s, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

int receive_all(int s, void* data, std::size_t bytes, double seconds) {
  auto* at = static_cast<char*>(data);
  bool any = false;
  while (bytes > 0) {
    pollfd p{s, POLLIN, 0};
    const int ready = poll(&p, 1, any ? -1 : static_cast<int>(seconds * 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return 0;
    const ssize_t got = recv(s, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    any = true;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return 1;
}

}  // namespace ridge::collectives
