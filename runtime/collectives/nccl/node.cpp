#include "node.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include "communicator.hpp"
#include "diagnosis.hpp"
#include "frame.hpp"
#include "socket.hpp"

namespace ridge::collectives {

namespace {

constexpr int kFarewell = 5;  // seconds that a process waits at its end for others to have read what it sent

}  // namespace

struct Node::Connection {
  int socket = -1;
  std::uint64_t process = 0;
  std::deque<std::vector<char>> out;
  std::size_t written = 0;  // bytes of out.front() that are written
  std::vector<char> in;
  bool mute = false;  // nothing more can be written; what was sent to us may still be read
  bool dead = false;
};

Node& Node::instance() {
  static auto* node = new Node;  // its thread lives until the process ends
  return *node;
}

Node::Node() {
  std::random_device device;
  token_ = (std::uint64_t{device()} << 32) ^ device();
}

std::string Node::address() {
  std::lock_guard lock(mutex_);
  if (!started_) start();
  return address_;
}

void Node::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  listener_ = listen_on_free_port(address_);
  if (listener_ < 0) {
    const int error = errno;
    close(ends[0]), close(ends[1]);
    errno = error;
    return;
  }
  wake_read_ = ends[0], wake_write_ = ends[1];
  started_ = true;
  owner_ = getpid();
  std::thread([this] { run(); }).detach();
  std::atexit([] { instance().leave(); });
}

// A process that ends with unread bytes in a socket resets it, and its peers lose what they have not read yet. So each
// side ends what it writes, and reads until the other has closed.
void Node::leave() {
  if (getpid() != owner_) return;  // a fork: the connections are the parent's
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kFarewell);
  std::unique_lock lock(mutex_);
  leaving_ = true;
  wake();
  auto open = [this] {
    return std::any_of(connections_.begin(), connections_.end(), [](const auto& c) { return c.second->socket >= 0; });
  };
  while (open() && std::chrono::steady_clock::now() < end) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
}

void Node::wake() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(wake_write_, &byte, 1);  // full: it is awake
}

void Node::join(int socket, std::uint64_t process) {
  {
    std::lock_guard lock(mutex_);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    wake_read_ = ends[0], wake_write_ = ends[1];
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    auto c = std::make_unique<Connection>();
    c->socket = socket;
    c->process = kHub;
    connections_[kHub] = std::move(c);
    token_ = process;
    judged_ = started_ = true;
  }
  std::thread([this] { run(); }).detach();
}

bool Node::connect(std::uint64_t process, const std::string& address, std::uint64_t key, double seconds) {
  if (process == token_) return true;
  if (judged_) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::unique_lock lock(mutex_);
  if (token_ < process && connections_.count(process) == 0) {
    const int s = connect_to(address);
    if (s < 0) return false;
    Frame hello{};
    hello.key = key;
    hello.slot = {0, Kind::hello, token_, 0};
    if (!send_all(s, &hello, sizeof hello)) return false;
    fcntl(s, F_SETFL, fcntl(s, F_GETFL) | O_NONBLOCK);
    auto c = std::make_unique<Connection>();
    c->socket = s;
    c->process = process;
    connections_[process] = std::move(c);
    wake();
  }
  while (connections_.count(process) == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  return true;
}

void Node::write(std::uint64_t process, std::uint64_t key, int to, Message m) {
  Frame frame{};
  frame.from = token_;
  frame.to = process;
  frame.key = key;
  frame.rank = to;
  frame.slot = m.slot;
  frame.call = m.call;
  frame.bytes = m.data.size();
  std::vector<char> header(sizeof frame);
  std::memcpy(header.data(), &frame, sizeof frame);
  std::lock_guard lock(mutex_);
  auto found = connections_.find(judged_ ? kHub : process);
  if (found == connections_.end() || found->second->dead || found->second->mute) return;
  Connection& c = *found->second;
  if (m.slot.kind != Kind::state) ++traffic_[process].sent;
  c.out.push_back(std::move(header));
  if (!m.data.empty()) c.out.push_back(std::move(m.data));
  flush(c);
  if (!c.out.empty()) wake();
}

void Node::watch_calls() {
  simt::Engine::instance().on_exchange([this] {
    for (const ncclComm* comm : Ranks::instance().all())
      if (!comm->inbox.empty()) return nudge();
  });
}

void Node::nudge() {
  std::lock_guard lock(mutex_);
  nudged_ = true;
  wake();
}

Node::Traffic Node::traffic(std::uint64_t process) {
  std::lock_guard lock(mutex_);
  return traffic_[process];
}

bool Node::gone(std::uint64_t process) {
  std::lock_guard lock(mutex_);
  return gone_.contains(judged_ ? kHub : process);
}

// Writes what fits.
void Node::flush(Connection& c) {
  while (!c.out.empty()) {
    const std::vector<char>& front = c.out.front();
    const ssize_t sent =
        ::send(c.socket, front.data() + c.written, front.size() - c.written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) {
      c.mute = true;
      return c.out.clear();
    }
    c.written += static_cast<std::size_t>(sent);
    if (c.written < front.size()) continue;
    c.written = 0;
    c.out.pop_front();
  }
}

void Node::run() {
  struct Arrival {
    std::uint64_t process;
    Frame frame;
    std::vector<char> data;
  };
  std::vector<char> chunk(std::size_t{1} << 20);
  for (;;) {
    std::vector<pollfd> polled;
    std::vector<Connection*> order;
    {
      std::lock_guard lock(mutex_);
      polled.push_back({wake_read_, POLLIN, 0});
      polled.push_back({listener_, POLLIN, 0});  // below 0: poll passes over it
      auto add = [&](Connection& c) {
        if (c.dead) return;
        if (leaving_ && !c.mute && c.out.empty()) {
          shutdown(c.socket, SHUT_WR);
          c.mute = true;
        }
        polled.push_back({c.socket, static_cast<short>(POLLIN | (c.out.empty() ? 0 : POLLOUT)), 0});
        order.push_back(&c);
      };
      for (auto& [process, c] : connections_) add(*c);
      for (auto& c : strangers_) add(*c);
    }
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    std::vector<Arrival> arrivals;
    std::vector<std::uint64_t> ended;
    bool moved = false;
    {
      std::lock_guard lock(mutex_);
      moved = std::exchange(nudged_, false);
      char bytes[64];
      while (read(wake_read_, bytes, sizeof bytes) > 0) {
      }
      if ((polled[1].revents & POLLIN) != 0) {
        const int s = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (s >= 0) {
          strangers_.push_back(std::make_unique<Connection>());
          strangers_.back()->socket = s;
        }
      }
      for (std::size_t i = 0; i < order.size(); ++i) {
        Connection& c = *order[i];
        const short events = polled[i + 2].revents;
        bool end = false;
        if ((events & POLLOUT) != 0) flush(c);
        for (int reads = 0; reads < 16 && (events & (POLLIN | POLLHUP | POLLERR)) != 0; ++reads) {
          const ssize_t got = recv(c.socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
          if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
          if (got <= 0) {
            end = true;
            break;
          }
          c.in.insert(c.in.end(), chunk.data(), chunk.data() + got);
          if (static_cast<std::size_t>(got) < chunk.size()) break;
        }
        std::size_t at = 0;
        for (Frame frame; c.in.size() - at >= sizeof frame;) {
          std::memcpy(&frame, c.in.data() + at, sizeof frame);
          if (frame.bytes > kLargestFrame) end = true;
          if (frame.bytes > kLargestFrame || c.in.size() - at - sizeof frame < frame.bytes) break;
          const char* data = c.in.data() + at + sizeof frame;
          if (frame.slot.kind == Kind::hello && c.process == 0)
            c.process = frame.slot.number;
          else if (c.process != 0)
            arrivals.push_back({judged_ ? frame.from : c.process, frame, {data, data + frame.bytes}});
          at += sizeof frame + frame.bytes;
        }
        c.in.erase(c.in.begin(), c.in.begin() + static_cast<std::ptrdiff_t>(at));
        c.dead = c.dead || end;
      }
      // Strangers that have said who they are, and connections that have ended.
      for (auto& c : strangers_) {
        if (c->dead) close(c->socket);
        if (c->dead || c->process == 0) continue;
        const std::uint64_t process = c->process;
        connections_[process] = std::move(c);
      }
      std::erase_if(strangers_, [](const auto& c) { return c == nullptr || c->dead; });
      for (auto& [process, c] : connections_) {
        if (!c->dead || c->socket < 0) continue;
        close(c->socket);
        c->socket = -1;
        c->out.clear();
        ended.push_back(process);
      }
    }
    if (arrivals.empty() && ended.empty() && !moved) continue;
    simt::Engine& engine = simt::Engine::instance();
    std::lock_guard lock(engine.mutex);
    moved = moved || !ended.empty();
    for (Arrival& a : arrivals) {
      if (a.frame.slot.kind == Kind::state) {
        heard_state(a.process, a.frame.key, a.frame.slot.step, a.data);
        continue;
      }
      moved = true;
      Ranks::instance().deliver(a.frame.key, a.frame.rank, {a.frame.slot, a.frame.call, std::move(a.data)});
    }
    {
      std::lock_guard own(mutex_);
      for (const Arrival& a : arrivals)
        if (a.frame.slot.kind != Kind::state) ++traffic_[a.process].received;
    }
    if (!ended.empty()) {
      // Not before what it sent has been delivered: who looks in between would take it for lost.
      std::lock_guard own(mutex_);
      gone_.insert(ended.begin(), ended.end());
    }
    if (moved) engine.arrived();
  }
}

}  // namespace ridge::collectives
