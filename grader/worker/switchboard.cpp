#include "grader/worker/switchboard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "collectives/judged.hpp"
#include "collectives/nccl/frame.hpp"
#include "grader/base/error.hpp"

namespace ridge {

namespace {

using collectives::Frame;
using collectives::Kind;

constexpr std::uint64_t kMostWaiting = std::uint64_t{1} << 30;  // bytes for one rank that does not read them
constexpr std::size_t kMostMessages = 1 << 20;

}  // namespace

struct Switchboard::Line {
  int own = -1, workers = -1;
  std::vector<char> in;
  std::deque<std::vector<char>> out;
  std::size_t written = 0;  // of out.front()
  std::uint64_t waiting = 0;

  void end() {
    if (own >= 0) ::close(own);
    own = -1;
    out.clear();
  }
};

Switchboard::Switchboard(int ranks) {
  bool ok = pipe2(wake_, O_CLOEXEC | O_NONBLOCK) == 0;
  for (int r = 0; ok && r < ranks; ++r) {
    int pair[2];
    ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
    if (!ok) break;
    lines_.push_back(std::make_unique<Line>());
    lines_.back()->own = pair[0];
    lines_.back()->workers = pair[1];
  }
  if (!ok) {
    const int error = errno;
    for (auto& l : lines_) l->end(), ::close(l->workers);
    throw Error(Exit::environment, std::string("cannot connect the ranks: ") + std::strerror(error),
                "close some programs, or raise `ulimit -n`");
  }
  thread_ = std::thread([this] { run(); });
}

Switchboard::~Switchboard() {
  close();
  thread_.join();
  for (auto& l : lines_)
    if (l->workers >= 0) ::close(l->workers);
  ::close(wake_[0]), ::close(wake_[1]);
}

int Switchboard::end_of(int rank) const { return lines_[static_cast<std::size_t>(rank)]->workers; }

void Switchboard::started() {
  std::lock_guard lock(mutex_);
  for (auto& l : lines_) {
    if (l->workers >= 0) ::close(l->workers);
    l->workers = -1;
  }
}

void Switchboard::close() {
  std::lock_guard lock(mutex_);
  closing_ = true;
  [[maybe_unused]] const ssize_t n = ::write(wake_[1], "", 1);
}

std::vector<lab::Message> Switchboard::take() {
  std::vector<lab::Message> sent;
  {
    std::lock_guard lock(mutex_);
    sent.swap(messages_);
  }
  std::stable_sort(sent.begin(), sent.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  return sent;
}

bool Switchboard::read(std::size_t rank) {
  Line& line = *lines_[rank];
  char buffer[1 << 16];
  const ssize_t got = recv(line.own, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  line.in.insert(line.in.end(), buffer, buffer + got);
  std::size_t at = 0;
  for (Frame frame; line.in.size() - at >= sizeof frame;) {
    std::memcpy(&frame, line.in.data() + at, sizeof frame);
    if (frame.from != rank + 1 || frame.to < 1 || frame.to > lines_.size() || frame.bytes > kMostWaiting) return false;
    const std::size_t whole = sizeof frame + frame.bytes;
    if (line.in.size() - at < whole) break;
    if (frame.slot.kind == Kind::data || frame.slot.kind == Kind::collective) {
      const bool host = frame.key == collectives::kMpiKey;
      if (messages_.size() == kMostMessages) return false;  // what is not counted does not pass
      if (frame.bytes > 0 || !host)
        messages_.push_back({static_cast<int>(rank), static_cast<int>(frame.to) - 1, frame.bytes, host,
                             frame.slot.kind == Kind::collective});
    }
    Line& to = *lines_[frame.to - 1];
    if (to.own >= 0) {
      if ((to.waiting += whole) > kMostWaiting) return false;
      to.out.emplace_back(line.in.begin() + static_cast<std::ptrdiff_t>(at),
                          line.in.begin() + static_cast<std::ptrdiff_t>(at + whole));
      if (!write(to)) to.end();
    }
    at += whole;
  }
  line.in.erase(line.in.begin(), line.in.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool Switchboard::write(Line& line) {
  while (!line.out.empty()) {
    const std::vector<char>& front = line.out.front();
    const ssize_t sent =
        send(line.own, front.data() + line.written, front.size() - line.written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    line.written += static_cast<std::size_t>(sent);
    if (line.written < front.size()) continue;
    line.waiting -= front.size();
    line.written = 0;
    line.out.pop_front();
  }
  return true;
}

void Switchboard::run() {
  for (;;) {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}};
    {
      std::lock_guard lock(mutex_);
      if (closing_) {
        for (auto& l : lines_) l->end();
        return;
      }
      for (auto& l : lines_) polled.push_back({l->own, static_cast<short>(POLLIN | (l->out.empty() ? 0 : POLLOUT)), 0});
    }
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    std::lock_guard lock(mutex_);
    for (std::size_t r = 0; r < lines_.size(); ++r) {
      Line& line = *lines_[r];
      const short events = polled[r + 1].revents;
      if (line.own < 0 || events == 0) continue;
      if (((events & POLLOUT) != 0 && !write(line)) || ((events & ~POLLOUT) != 0 && !read(r))) line.end();
    }
  }
}

}  // namespace ridge
