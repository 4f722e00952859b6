// One packet of the protocol on a SOCK_SEQPACKET socket, with at most one descriptor beside it. Used on both ends.
#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstring>

#include "protocol.hpp"

namespace ridge::protocol {

// Sends header and payload; `fd` below 0 sends none. False with errno set where the other end is gone.
inline bool send_packet(int socket, Type type, std::uint64_t sequence, const void* payload, std::size_t bytes,
                        int fd = -1) {
  Header header;
  header.type = type;
  header.sequence = sequence;
  header.payload = static_cast<std::uint32_t>(bytes);
  iovec io[2] = {{&header, sizeof header}, {const_cast<void*>(payload), bytes}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = io;
  message.msg_iovlen = 2;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

// Receives one packet into `buffer` and returns its bytes, 0 at the end, below 0 with errno set. `fd` gets the
// descriptor that came with it, else stays as it is; it is the caller's to close.
inline ssize_t receive_packet(int socket, void* buffer, std::size_t bytes, int& fd, int flags = 0) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec io{buffer, bytes};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  if (n < 0) return n;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
      std::memcpy(&fd, CMSG_DATA(c), sizeof(int));
  return n;
}

}  // namespace ridge::protocol
