#include "serve/net/peer_user.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace ridge::net {

namespace {

constexpr std::uint8_t kEstablished = 1;  // TCP_ESTABLISHED: a socket that its process has closed belongs to nobody

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

void put(const boost::asio::ip::address& from, __be32 (&to)[4]) {
  if (from.is_v4()) {
    const auto bytes = from.to_v4().to_bytes();
    std::memcpy(to, bytes.data(), bytes.size());
  } else {
    const auto bytes = from.to_v6().to_bytes();
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

}  // namespace

std::optional<uid_t> user_of(const boost::asio::ip::tcp::endpoint& peer, const boost::asio::ip::tcp::endpoint& own) {
  const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return std::nullopt;
  Question q;
  q.header.nlmsg_len = sizeof q;
  q.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  q.header.nlmsg_flags = NLM_F_REQUEST;
  q.body.sdiag_family = peer.address().is_v4() ? AF_INET : AF_INET6;
  q.body.sdiag_protocol = IPPROTO_TCP;
  q.body.idiag_states = ~0u;
  q.body.id.idiag_sport = htons(peer.port());
  q.body.id.idiag_dport = htons(own.port());
  put(peer.address(), q.body.id.idiag_src);
  put(own.address(), q.body.id.idiag_dst);
  q.body.id.idiag_cookie[0] = q.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  alignas(nlmsghdr) char answer[4096];
  const ssize_t n = send(fd, &q, sizeof q, 0) == sizeof q ? recv(fd, answer, sizeof answer, MSG_DONTWAIT) : -1;
  close(fd);
  if (n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return std::nullopt;
  nlmsghdr header;
  inet_diag_msg found;
  std::memcpy(&header, answer, sizeof header);
  std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || found.idiag_state != kEstablished) return std::nullopt;
  return found.idiag_uid;
}

}  // namespace ridge::net
