#include "worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "clock.hpp"
#include "error.hpp"
#include "process.hpp"
#include "worker/packet.hpp"
#include "worker_messages.hpp"

namespace ridge {

namespace {

constexpr std::size_t kKeptOutput = 64 * 1024;
constexpr std::size_t kFlood = 16 << 20;
constexpr rlim_t kMaxFileBytes = 64 << 20;
constexpr off_t kMaxLaunchBytes = 16 << 20;

// Nothing of the judge's environment but what a GPU program needs.
std::vector<std::string> worker_environment() {
  std::vector<std::string> env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8", "RIDGE_QUIET_FAULTS=1"};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "RIDGE_WORKERS", "RIDGE_LANE_ORDER"})
    if (const char* value = std::getenv(name)) env.push_back(std::string(name) + "=" + value);
  return env;
}

std::string read_launches(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxLaunchBytes) return {};
  std::string text(static_cast<std::size_t>(info.st_size), 0);
  std::size_t at = 0;
  while (at < text.size()) {
    ssize_t n = pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (n <= 0) return {};
    at += static_cast<std::size_t>(n);
  }
  return text;
}

}  // namespace

WorkerProcess::WorkerProcess(const fs::path& program, double start_seconds) {
  int pair[2];
  int out[2];
  int exec_failed[2];  // closes with the exec, so that no submission can speak through it
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
      pipe2(exec_failed, O_CLOEXEC) != 0)
    throw Error(Exit::environment, std::string("cannot make a socket: ") + std::strerror(errno), "close some programs");
  std::vector<std::string> env = worker_environment();
  std::vector<char*> envp;
  for (auto& e : env) envp.push_back(e.data());
  envp.push_back(nullptr);
  std::string path = program.string();
  char* argv[] = {path.data(), nullptr};
  pid_ = fork_child();
  if (pid_ == 0) {
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    int high = fcntl(pair[1], F_DUPFD, 64);  // clear of the number that it must get
    int report = fcntl(exec_failed[1], F_DUPFD, 64);
    dup2(high, protocol::kSocket);
    dup3(report, protocol::kSocket + 1, O_CLOEXEC);
    isolate_child(protocol::kSocket + 2);
    rlimit file{kMaxFileBytes, kMaxFileBytes};
    setrlimit(RLIMIT_FSIZE, &file);
    if (chdir("/") == 0) execve(argv[0], argv, envp.data());
    int error = errno;
    if (write(protocol::kSocket + 1, &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  int error = pid_ < 0 ? errno : 0;
  close(pair[1]);
  close(out[1]);
  close(exec_failed[1]);
  if (pid_ > 0 && read(exec_failed[0], &error, sizeof error) < 0) error = errno;
  close(exec_failed[0]);
  socket_ = pair[0];
  out_ = out[0];
  fcntl(out_, F_SETFL, O_NONBLOCK);
  Reply reply;
  std::vector<char> packet;
  int fd = -1;
  bool ok = error == 0 && wait_packet(now() + start_seconds, reply, packet, fd);
  if (fd >= 0) close(fd);
  if (ok && parse_hello(packet, hello_)) return;
  usleep(20000);
  drain();
  stop(&reply);
  close(socket_);
  close(out_);
  std::string said = output_.empty() ? "" : "; it printed:\n" + output_.substr(0, 2000);
  if (error != 0)
    throw Error(Exit::environment, fmt::format("the worker process could not start: {}", std::strerror(error)),
                "run `ridge doctor`; where programs must not run in the temporary folder, set TMPDIR to another");
  std::string what = "ended before its first call";
  if (reply.fate == Fate::timed_out) what = fmt::format("did not get to its first call in {:g} s", start_seconds);
  if (reply.fate == Fate::flooded) what = "printed too much before its first call";
  throw Error(Exit::failed, "the program " + what + said,
              "look for static objects whose constructors end or stop the program");
}

WorkerProcess::~WorkerProcess() {
  stop(nullptr);
  close(socket_);
  close(out_);
}

void WorkerProcess::stop(Reply* reply) {
  if (pid_ <= 0) return;
  int status = end_child(pid_);
  if (reply != nullptr) {
    if (WIFSIGNALED(status)) reply->signal = WTERMSIG(status);
    if (WIFEXITED(status)) reply->exit_code = WEXITSTATUS(status);
  }
  pid_ = -1;
}

const std::string& WorkerProcess::output() {
  if (alive()) drain();
  return output_;
}

bool WorkerProcess::drain() {
  char buffer[65536];
  for (;;) {
    ssize_t n = read(out_, buffer, sizeof buffer);
    if (n <= 0) return printed_ <= kFlood;
    printed_ += static_cast<std::size_t>(n);
    if (output_.size() < kKeptOutput)
      output_.append(buffer, std::min(static_cast<std::size_t>(n), kKeptOutput - output_.size()));
    if (printed_ > kFlood) return false;
  }
}

bool WorkerProcess::wait_packet(double deadline, Reply& reply, std::vector<char>& packet, int& fd) {
  for (bool out_open = true;;) {
    double left = deadline - now();
    if (left <= 0) {
      reply.fate = Fate::timed_out;
      return false;
    }
    pollfd p[2] = {{socket_, POLLIN, 0}, {out_, POLLIN, 0}};
    int ready = poll(p, out_open ? 2 : 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    if (out_open && p[1].revents != 0) {
      if (!drain()) {
        reply.fate = Fate::flooded;
        return false;
      }
      if ((p[1].revents & POLLHUP) != 0) out_open = false;
    }
    if (p[0].revents == 0) continue;
    packet.resize(protocol::kMaxPacket);
    ssize_t n = protocol::receive_packet(socket_, packet.data(), packet.size(), fd, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) break;  // closed: the process ended
    packet.resize(static_cast<std::size_t>(n));
    return true;
  }
  reply.fate = Fate::crashed;
  return false;
}

Reply WorkerProcess::request(protocol::Type type, const std::vector<char>& payload, int fd, double limit_seconds) {
  Reply reply;
  double start = now();
  std::vector<char> packet;
  int received = -1;
  bool ok = protocol::send_packet(socket_, type, ++sequence_, payload.data(), payload.size(), fd);
  if (ok)
    ok = wait_packet(start + limit_seconds, reply, packet, received);
  else
    reply.fate = Fate::crashed;
  reply.seconds = now() - start;
  if (ok) {
    if (!parse_done(packet, sequence_, reply.done)) reply.fate = Fate::protocol;
    if (received >= 0) reply.launches = read_launches(received);
  }
  if (received >= 0) close(received);
  if (reply.fate != Fate::ok) {
    if (reply.fate == Fate::crashed) usleep(20000);  // let it end by itself, so that its own signal is seen
    drain();
    stop(&reply);
  }
  return reply;
}

Reply WorkerProcess::add_buffer(const protocol::Buffer& buffer, int fd, double limit_seconds) {
  std::vector<char> payload(sizeof buffer);
  std::memcpy(payload.data(), &buffer, sizeof buffer);
  return request(protocol::Type::buffer, payload, fd, limit_seconds);
}

Reply WorkerProcess::run(const std::vector<protocol::Call>& calls, bool record, double limit_seconds, bool sanitize) {
  protocol::Run head;
  head.calls = static_cast<std::uint32_t>(calls.size());
  head.record = record ? 1 : 0;
  head.sanitize = sanitize ? 1 : 0;
  std::vector<char> payload(sizeof head + calls.size() * sizeof(protocol::Call));
  std::memcpy(payload.data(), &head, sizeof head);
  if (!calls.empty()) std::memcpy(payload.data() + sizeof head, calls.data(), calls.size() * sizeof(protocol::Call));
  return request(protocol::Type::run, payload, -1, limit_seconds);
}

}  // namespace ridge
