#include "grader/worker/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/patience.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/worker/worker_messages.hpp"
#include "worker/packet.hpp"

namespace ridge {

namespace {

constexpr std::size_t kKeptOutput = 64 * 1024;
constexpr std::size_t kFlood = 16 << 20;
constexpr off_t kMaxLaunchBytes = 16 << 20;
constexpr off_t kMaxTraceBytes = off_t{1} << 30;
constexpr double kSpinSeconds = 0.1;  // longer requests than this are not hurt by a late wake
constexpr double kLook = 0.05;        // seconds between two looks at the memory in use

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

// The worker still holds the file that it sent: what is used is a copy.
TraceFile copy_trace(int fd) {
  TraceFile t;
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxTraceBytes) return t;
  t.fd = memfd_create("trace", MFD_CLOEXEC);
  std::vector<char> buffer(1 << 20);
  for (off_t at = 0; t.fd >= 0 && at < info.st_size;) {
    ssize_t n =
        pread(fd, buffer.data(), std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(info.st_size - at)), at);
    if (n <= 0 || write(t.fd, buffer.data(), static_cast<std::size_t>(n)) != n) break;
    at += n;
    t.bytes = static_cast<std::uint64_t>(at);
  }
  return t;
}

// Lets a process that has closed its socket end by itself, so that its own signal or exit code is seen.
void wait_for_end(pid_t pid) {
  for (const double end = now() + 1; now() < end; usleep(2000)) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) return;
  }
}

}  // namespace

TraceFile::~TraceFile() {
  if (fd >= 0) close(fd);
}

StartedWorker start_worker(const fs::path& program, const WorkerOptions& options) {
  StartedWorker w;
  int pair[2];
  int out[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 || pipe2(out, O_CLOEXEC) != 0)
    throw Error(Exit::environment, std::string("cannot make a socket: ") + std::strerror(errno), "close some programs");
  Sandbox description = worker_sandbox(program, options.gpu);
  description.fixed_addresses = options.role != Role::plain;  // a trace holds addresses
  const char* mode = options.role == Role::traced ? "trace" : options.role == Role::replay ? "replay" : "run";
  std::vector<std::string> argv = {program.string(), mode};
  if (options.role == Role::replay && !on(Defence::kernel_entries)) argv.push_back("with-initialisers");
  if (!on(Defence::host_access)) argv.push_back("host-access");
  if (options.messages >= 0) {
    description.last_kept = protocol::kMessages;
    argv.insert(argv.end(), {"rank", std::to_string(options.rank), "of", std::to_string(options.ranks)});
    // The ranks share the cores; a thread of each for every core would exceed a user's limit on a large machine.
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency() / static_cast<unsigned>(options.ranks));
    if (std::getenv("RIDGE_WORKERS") == nullptr)
      description.environment.push_back("RIDGE_WORKERS=" + std::to_string(cores));
  }
  if (!on(Defence::sealed_code)) argv.push_back("writable-code");
  w.sandbox = std::make_unique<SandboxRun>(description, argv);
  w.pid = fork_child();
  if (w.pid == 0) {
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    int high = fcntl(pair[1], F_DUPFD_CLOEXEC, 64);  // clear of the number that it must get
    int messages = options.messages < 0 ? -1 : fcntl(options.messages, F_DUPFD_CLOEXEC, 64);
    dup2(high, protocol::kSocket);
    if (messages >= 0) dup2(messages, protocol::kMessages);
    w.sandbox->exec(messages >= 0 ? protocol::kMessages : protocol::kSocket);
  }
  close(pair[1]);
  close(out[1]);
  w.not_started = w.sandbox->started(w.pid);
  w.socket = pair[0], w.out = out[0];
  fcntl(w.out, F_SETFL, O_NONBLOCK);
  return w;
}

WorkerProcess::WorkerProcess(const fs::path& program, double start_seconds, const WorkerOptions& options)
    : spins_(options.gpu) {
  StartedWorker w = start_worker(program, options);
  sandbox_ = std::move(w.sandbox);
  pid_ = w.pid, socket_ = w.socket, out_ = w.out;
  greet(start_seconds, w.not_started);
}

WorkerProcess::WorkerProcess(std::shared_ptr<RankHost> host, int rank, double start_seconds, bool timed)
    : ranks_(std::move(host)), rank_(rank), spins_(timed), pid_(ranks_->pid()) {
  socket_ = ranks_->take_socket(rank);
  out_ = ranks_->take_output(rank);
  greet(start_seconds, {});
}

void WorkerProcess::greet(double start_seconds, const std::string& not_started) {
  Reply reply;
  std::vector<char> packet;
  int fd = -1;
  bool ok = not_started.empty() && wait_packet(start_seconds, reply, packet, fd);
  if (fd >= 0) close(fd);
  if (ok && parse_hello(packet, hello_)) return;
  protocol::Report report;  // of a rank that ends before its first call
  const bool reported = ok && parse_report(packet, 0, report);
  usleep(20000);
  drain();
  stop(&reply);
  close(socket_);
  close(out_);
  std::string said = output_.empty() ? "" : "; it printed:\n" + output_.substr(0, 2000);
  if (reported) said += std::string("; it reported:\n") + report.text;
  if (!not_started.empty())
    throw Error(Exit::environment, fmt::format("the worker process could not start: {}{}", not_started, said),
                "run `ridge doctor`; where programs must not run in the temporary folder, set TMPDIR to another");
  std::string what = "ended before its first call";
  if (reply.fate == Fate::timed_out) what = fmt::format("did not get to its first call in {:g} s", start_seconds);
  if (reply.fate == Fate::memory) what = "took too much memory before its first call";
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
  int status = SIGKILL;
  if (ranks_) {
    status = ranks_->ended(rank_, 0).value_or(SIGKILL);
    ranks_->end();
  } else {
    status = end_child(pid_);
    sandbox_->finish();
    status = sandbox_->own_status(status);
  }
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
    if (n <= 0) return printed_ <= kFlood || !on(Defence::output_limit);
    printed_ += static_cast<std::size_t>(n);
    if (output_.size() < kKeptOutput)
      output_.append(buffer, std::min(static_cast<std::size_t>(n), kKeptOutput - output_.size()));
    if (printed_ > kFlood && on(Defence::output_limit)) return false;
  }
}

bool WorkerProcess::wait_packet(double limit_seconds, Reply& reply, std::vector<char>& packet, int& fd) {
  double look = now() + kLook;
  Patience patience(limit_seconds, [this] { return waited_seconds(); });
  // On a GPU the answer's arrival is timed, and a sleeping core wakes late (0.1 to 0.5 ms on a virtual machine).
  const double wide_awake = spins_ ? now() + kSpinSeconds : 0;
  for (bool out_open = true;;) {
    double left = patience.left();
    if (left <= 0 && on(Defence::time_limit)) {
      reply.fate = Fate::timed_out;
      reply.held = sandbox_ ? sandbox_->memory() : 0;
      return false;
    }
    if (double time = now(); time > look) {
      look = time + kLook;
      if (over_memory()) {
        reply.fate = Fate::memory;
        return false;
      }
    }
    left = std::clamp(left, 0.0, kLook);
    pollfd p[2] = {{socket_, POLLIN, 0}, {out_, POLLIN, 0}};
    const bool spin = spins_ && now() < wide_awake;
    int ready = poll(p, out_open ? 2 : 1, spin ? 0 : static_cast<int>(left * 1000) + 1);
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

bool WorkerProcess::answer_file_request(std::span<const char> packet) {
  files::Request request;
  if (!parse_file_request(packet, sequence_, request)) return false;
  files::Reply reply;
  reply.result = -ENOSYS;
  int window = -1, file = -1;
  if (files_.service != nullptr) {
    window = files_window_.take_descriptor();
    if (files_.rank >= 0) request.rank = files_.rank;
    reply = files_.service->call(request, files_window_.bytes());
    file = files_.service->take_descriptor();
  }
  // The window goes with the first answer, which is to no open.
  const bool sent = protocol::send_packet(socket_, protocol::Type::filed, sequence_, &reply, sizeof reply,
                                          window >= 0 ? window : file);
  if (file >= 0) close(file);
  return sent;
}

// The packet that ends a request. Questions before it are answered.
bool WorkerProcess::wait_answer(double limit_seconds, const Answerer& answerer, Reply& reply, std::vector<char>& packet,
                                int& fd) {
  for (const double end = now() + limit_seconds;;) {
    if (!wait_packet(std::max(end - now(), 0.0), reply, packet, fd)) return false;
    if (answer_file_request(packet)) {
      if (fd >= 0) close(fd);
      fd = -1;
      continue;
    }
    protocol::Ask ask;
    if (!answerer || !parse_ask(packet, sequence_, ask)) return true;
    if (fd >= 0) close(fd);
    fd = -1;
    const protocol::Told told = answerer(ask);
    if (!protocol::send_packet(socket_, protocol::Type::told, sequence_, &told, sizeof told)) {
      reply.fate = Fate::crashed;
      return false;
    }
  }
}

Reply WorkerProcess::request(protocol::Type type, const std::vector<char>& payload, int fd, double limit_seconds,
                             bool wants_trace, const Answerer& answerer) {
  Reply reply;
  // An answer can't be there before its question, nor carry a number that nobody could know.
  if (on(Defence::strict_protocol)) {
    if (getrandom(&sequence_, sizeof sequence_, 0) != sizeof sequence_) ++sequence_;
    pollfd early{socket_, POLLIN, 0};
    if (poll(&early, 1, 0) > 0 && (early.revents & POLLHUP) == 0) reply.fate = Fate::protocol;
  } else {
    ++sequence_;
  }
  double start = now();
  std::vector<char> packet;
  int received = -1;
  bool ok = reply.fate == Fate::ok;
  if (ok) {
    ok = protocol::send_packet(socket_, type, sequence_, payload.data(), payload.size(), fd);
    if (ok)
      ok = wait_answer(limit_seconds, answerer, reply, packet, received);
    else
      reply.fate = Fate::crashed;
  }
  reply.seconds = now() - start;
  if (ok) {
    if (parse_report(packet, sequence_, reply.report))
      reply.fate = Fate::reported;
    else if (!parse_done(packet, sequence_, reply.done))
      reply.fate = Fate::protocol;
    if (received >= 0 && wants_trace)
      reply.trace = copy_trace(received);
    else if (received >= 0)
      reply.launches = read_launches(received);
    if (wants_trace && reply.trace.bytes == 0 && reply.good()) reply.fate = Fate::protocol;
  }
  if (received >= 0) close(received);
  if (reply.fate != Fate::ok) {
    if (reply.fate == Fate::crashed && ranks_) reply.with_others = !ranks_->ended(rank_, 1);
    if (reply.fate == Fate::crashed && !ranks_) wait_for_end(pid_);
    // The rank that is the cause may have ended just before: its own status is worth a moment.
    if (reply.fate == Fate::reported && ranks_) ranks_->ended(rank_, 1);
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

Reply WorkerProcess::run(const std::vector<protocol::Call>& calls, protocol::Run head, double limit_seconds,
                         const Answerer& answerer) {
  head.calls = static_cast<std::uint32_t>(calls.size());
  std::vector<char> payload(sizeof head + calls.size() * sizeof(protocol::Call));
  std::memcpy(payload.data(), &head, sizeof head);
  if (!calls.empty()) std::memcpy(payload.data() + sizeof head, calls.data(), calls.size() * sizeof(protocol::Call));
  return request(protocol::Type::run, payload, -1, limit_seconds, head.trace != 0, answerer);
}

Reply WorkerProcess::replay(const protocol::Replay& what, int trace, double limit_seconds) {
  std::vector<char> payload(sizeof what);
  std::memcpy(payload.data(), &what, sizeof what);
  return request(protocol::Type::replay, payload, trace, limit_seconds);
}

}  // namespace ridge
