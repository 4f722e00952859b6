#include "serve.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "grader/base/error.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/worker/agent_wire.hpp"
#include "grader/worker/worker_process.hpp"
#include "worker/packet.hpp"

namespace ridge::agent {

namespace {

constexpr std::size_t kMostSent = std::size_t{1} << 30;  // of a file that a worker sends: a trace

int connect_to(const std::string& host, const std::string& port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{5, 0}, none{0, 0};
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const bool ok = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (ok) {
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    wire::keep_alive(fd);
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

class Judge {
 public:
  Judge(int rank, int size) {
    const char* token = std::getenv("RIDGE_AGENT_TOKEN");
    const char* addresses = std::getenv("RIDGE_JUDGE");
    opening_.rank = static_cast<std::uint32_t>(rank), opening_.size = static_cast<std::uint32_t>(size);
    if (token != nullptr && std::strlen(token) == 32)
      for (int i = 0; i < 2; ++i)
        opening_.token[i] = std::strtoull(std::string(token + 16 * i, 16).c_str(), nullptr, 16);
    const char* node = std::getenv("SLURMD_NODENAME");
    if (node != nullptr)
      std::snprintf(opening_.host, sizeof opening_.host, "%s", node);
    else
      gethostname(opening_.host, sizeof opening_.host - 1);
    std::istringstream list(addresses == nullptr ? "" : addresses);
    for (std::string one; std::getline(list, one, ',');) all_.push_back(one);
    unsetenv("RIDGE_AGENT_TOKEN");  // nothing for workers
    unsetenv("RIDGE_JUDGE");
  }
  int open(wire::Line line, std::uint64_t worker) {
    for (const std::string& one : all_) {
      const auto colon = one.rfind(':');
      const int fd = connect_to(one.substr(0, colon), one.substr(colon + 1));
      if (fd < 0) continue;
      all_ = {one};  // the one that answers
      wire::Opening o = opening_;
      o.line = line, o.worker = worker;
      if (wire::send_all(fd, &o, sizeof o)) return fd;
      close(fd);
    }
    return -1;
  }

 private:
  wire::Opening opening_;
  std::vector<std::string> all_;
};

class Served {
 public:
  Served(int line, StartedWorker worker) : line_(line), worker_(std::move(worker)) {}

  void run() {
    const std::int64_t pid = worker_.pid;
    bool on = wire::send_record(line_, wire::Kind::started, &pid, sizeof pid);
    bool out_open = true, over_memory = false, by_itself = false;
    while (on) {
      pollfd p[3] = {{line_, POLLIN, 0}, {worker_.socket, POLLIN, 0}, {worker_.out, POLLIN, 0}};
      poll(p, out_open ? 3 : 2, 50);
      if (out_open && p[2].revents != 0) out_open = hand_on_output();
      if (worker_.sandbox->over_memory()) over_memory = true, on = false;
      if (on && p[1].revents != 0 && !from_worker()) by_itself = true, on = false;
      if (on && p[0].revents != 0 && !from_judge()) on = false;
    }
    int status = 0;
    if (by_itself) {  // so that its own signal or exit code is seen
      for (int i = 0; i < 500; ++i) {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(worker_.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
          break;
        usleep(2000);
      }
    }
    status = end_child(worker_.pid);
    worker_.sandbox->finish();
    if (out_open) hand_on_output();
    const wire::Ended e{worker_.sandbox->own_status(status), over_memory ? 1U : 0U};
    wire::send_record(line_, wire::Kind::ended, &e, sizeof e);
    shutdown(line_, SHUT_RDWR);
    close(line_), close(worker_.socket), close(worker_.out);
  }

 private:
  bool hand_on_output() {
    char text[65536];
    const ssize_t n = read(worker_.out, text, sizeof text);
    if (n > 0) wire::send_record(line_, wire::Kind::output, text, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EAGAIN);
  }
  bool from_judge() {
    wire::Record head;
    if (!wire::receive_record(line_, head, bytes_)) return false;
    if (head.kind == wire::Kind::contents) return mirrors_.receive(bytes_, false);
    if (head.kind == wire::Kind::file) {
      if (file_ >= 0) close(file_);
      file_ = wire::memory_file({bytes_.data(), bytes_.size()});
      return file_ >= 0;
    }
    protocol::Header h;
    if (head.kind != wire::Kind::packet || bytes_.size() < sizeof h || bytes_.size() > protocol::kMaxPacket)
      return false;
    std::memcpy(&h, bytes_.data(), sizeof h);
    int fd = std::exchange(file_, -1);
    if (protocol::Buffer b; h.type == protocol::Type::buffer && fd >= 0 && bytes_.size() == sizeof h + sizeof b) {
      std::memcpy(&b, bytes_.data() + sizeof h, sizeof b);
      if (!mirrors_.add(fd, b.id, b.writable != 0, true)) return false;
      if (b.writable == 0) {  // the worker gets one that it can't write to
        const int only_read = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
        close(std::exchange(fd, only_read));
      }
    }
    if (h.type == protocol::Type::run || h.type == protocol::Type::replay) mirrors_.ran();
    const bool ok = protocol::send_packet(worker_.socket, h.type, h.sequence, bytes_.data() + sizeof h,
                                          bytes_.size() - sizeof h, fd);
    if (fd >= 0) close(fd);
    return ok;
  }
  bool from_worker() {
    std::vector<char> packet(protocol::kMaxPacket);
    int fd = -1;
    const ssize_t n = protocol::receive_packet(worker_.socket, packet.data(), packet.size(), fd);
    if (n <= 0) return false;
    bool ok = mirrors_.send_changed(line_, true);
    if (fd >= 0) {  // what it holds now; the worker still has it
      if (!wire::file_contents(fd, bytes_, kMostSent)) bytes_.clear();
      ok = ok && wire::send_record(line_, wire::Kind::file, {bytes_.data(), bytes_.size()});
      close(fd);
    }
    return ok && wire::send_record(line_, wire::Kind::packet, {packet.data(), static_cast<std::size_t>(n)});
  }

  int line_, file_ = -1;
  StartedWorker worker_;
  wire::Mirrors mirrors_;
  std::vector<char> bytes_;
};

void serve_worker(int line, int messages, const fs::path& program, const wire::Start& s) {
  int pair[2] = {-1, -1};
  std::thread there, back;
  try {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw Error(Exit::environment, "no sockets are left", "close some programs");
    StartedWorker w = start_worker(program, {.role = static_cast<Role>(s.role),
                                             .rank = static_cast<int>(s.rank),
                                             .ranks = static_cast<int>(s.ranks),
                                             .messages = pair[1]});
    close(std::exchange(pair[1], -1));
    if (!w.not_started.empty()) {
      end_child(w.pid);
      w.sandbox->finish();
      throw Error(Exit::environment, w.not_started, "");
    }
    there = std::thread(wire::pump, pair[0], messages);
    back = std::thread(wire::pump, messages, pair[0]);
    Served(line, std::move(w)).run();
  } catch (const Error& e) {
    wire::send_record(line, wire::Kind::not_started, e.what());
    close(line);
  }
  shutdown(messages, SHUT_RDWR);
  if (there.joinable()) there.join(), back.join();
  for (int fd : {pair[0], pair[1], messages})
    if (fd >= 0) close(fd);
}

}  // namespace

int serve(int rank, int size) {
  Judge judge(rank, size);
  const int control = judge.open(wire::Line::control, 0);
  if (control < 0) {
    std::fprintf(stderr, "ridge-agent: rank %d cannot reach the judge\n", rank);
    return 3;
  }
  TemporaryDir dir("agent");
  const fs::path program = dir.path() / "worker";
  std::vector<std::thread> workers;
  wire::Record head;
  for (std::vector<char> bytes; wire::receive_record(control, head, bytes);) {
    if (head.kind == wire::Kind::program) {
      try {
        write_durably(program, {bytes.begin(), bytes.end()});
        chmod(program.c_str(), 0700);
      } catch (const Error& e) {
        std::fprintf(stderr, "ridge-agent: %s\n", e.what());
        break;
      }
    }
    wire::Start s;
    if (head.kind != wire::Kind::start || bytes.size() != sizeof s) continue;
    std::memcpy(&s, bytes.data(), sizeof s);
    const int line = judge.open(wire::Line::worker, s.worker), messages = judge.open(wire::Line::messages, s.worker);
    if (line < 0 || messages < 0) break;
    workers.emplace_back(serve_worker, line, messages, program, s);
  }
  close(control);
  for (auto& w : workers) w.join();
  return 0;
}

}  // namespace ridge::agent
