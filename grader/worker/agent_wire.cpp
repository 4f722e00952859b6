#include "grader/worker/agent_wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

namespace ridge::wire {

bool send_all(int fd, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(int fd, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = recv(fd, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send_record(int fd, Kind kind, const void* data, std::size_t bytes) {
  const Record head{kind, 0, bytes};
  return send_all(fd, &head, sizeof head) && send_all(fd, data, bytes);
}

bool receive_record(int fd, Record& head, std::vector<char>& bytes) {
  if (!receive_all(fd, &head, sizeof head) || head.bytes > kMostBytes) return false;
  bytes.resize(head.bytes);
  return receive_all(fd, bytes.data(), bytes.size());
}

void keep_alive(int fd) {
  const int on = 1, idle = 2, interval = 1, count = 4;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

void pump(int from, int to) {
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t n = recv(from, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || !send_all(to, buffer.data(), static_cast<std::size_t>(n))) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

int memory_file(std::string_view contents, std::size_t size) {
  const int fd = memfd_create("from-elsewhere", MFD_CLOEXEC);
  if (fd < 0) return -1;
  bool ok = ftruncate(fd, static_cast<off_t>(std::max(size, contents.size()))) == 0;
  for (std::size_t at = 0; ok && at < contents.size();) {
    const ssize_t n = pwrite(fd, contents.data() + at, contents.size() - at, static_cast<off_t>(at));
    ok = n > 0;
    at += ok ? static_cast<std::size_t>(n) : 0;
  }
  if (ok) return fd;
  close(fd);
  return -1;
}

bool file_contents(int fd, std::vector<char>& bytes, std::size_t most) {
  struct stat s {};
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size < 0 || static_cast<std::size_t>(s.st_size) > most)
    return false;
  bytes.resize(static_cast<std::size_t>(s.st_size));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool Mirrors::add(int fd, std::uint64_t id, bool writable, bool pages_writable) {
  if (ran_) clear();
  struct stat s {};
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return false;
  Mirror m{id, nullptr, static_cast<std::size_t>(s.st_size), writable};
  if (m.bytes > 0) {
    void* p = mmap(nullptr, m.bytes, pages_writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return false;
    m.at = static_cast<char*>(p);
  }
  m.known = std::hash<std::string_view>{}(m.view());
  all_.push_back(m);
  return true;
}

void Mirrors::clear() {
  for (Mirror& m : all_)
    if (m.at != nullptr) munmap(m.at, m.bytes);
  all_.clear();
  ran_ = false;
}

bool Mirrors::send_changed(int fd, bool writable) {
  for (Mirror& m : all_) {
    if (writable && !m.writable) continue;
    const std::size_t now = std::hash<std::string_view>{}(m.view());
    if (now == m.known) continue;
    m.known = now;
    const Record head{Kind::contents, 0, sizeof m.id + m.bytes};
    if (!send_all(fd, &head, sizeof head) || !send_all(fd, &m.id, sizeof m.id) || !send_all(fd, m.at, m.bytes))
      return false;
  }
  return true;
}

bool Mirrors::receive(const std::vector<char>& record, bool writable) {
  std::uint64_t id = 0;
  if (record.size() < sizeof id) return false;
  std::memcpy(&id, record.data(), sizeof id);
  for (Mirror& m : all_) {
    if (m.id != id || (writable && !m.writable) || record.size() - sizeof id != m.bytes) continue;
    std::memcpy(m.at, record.data() + sizeof id, m.bytes);
    m.known = std::hash<std::string_view>{}(m.view());
    return true;
  }
  return false;
}

}  // namespace ridge::wire
