#include "grader/worker/agents.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"
#include "worker/packet.hpp"

namespace ridge {

namespace {

constexpr double kStart = 60, kConnect = 30, kEnd = 5;

// "10.0.0.5:4711,127.0.0.1:4711": an agent takes the first that answers.
std::string addresses(int port) {
  std::string all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (const ifaddrs* a = list; a != nullptr; a = a->ifa_next) {
      if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
      const auto* in = reinterpret_cast<const sockaddr_in*>(a->ifa_addr);
      if ((ntohl(in->sin_addr.s_addr) >> 24) == 127) continue;
      char text[INET_ADDRSTRLEN] = "";
      inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
      all += fmt::format("{}:{},", text, port);
    }
    freeifaddrs(list);
  }
  return all + fmt::format("127.0.0.1:{}", port);
}

}  // namespace

// The judge's side of a worker elsewhere: to WorkerProcess it is a socket, a pipe and a status.
class RemoteWorker : public RankHost {
 public:
  RemoteWorker(Agents& agents, int agent, int line, int messages_line, int messages)
      : agents_(agents), agent_(agent), line_(line), messages_line_(messages_line) {
    int pair[2], out[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 || pipe2(out, O_CLOEXEC) != 0)
      throw Error(Exit::environment, std::string("cannot make a socket: ") + std::strerror(errno),
                  "close some programs");
    socket_ = pair[0], inner_ = pair[1], output_ = out[0], printed_ = out[1];
    fcntl(output_, F_SETFL, O_NONBLOCK);
    wire::Record head;
    std::vector<char> bytes;
    if (!wire::receive_record(line_, head, bytes)) agents_.lost(agent_);
    if (head.kind == wire::Kind::not_started) why_ = std::string(bytes.begin(), bytes.end());
    if (head.kind == wire::Kind::started && bytes.size() == sizeof pid_) std::memcpy(&pid_, bytes.data(), sizeof pid_);
    if (messages >= 0) {
      own_messages_ = fcntl(messages, F_DUPFD_CLOEXEC, 3);
      there_ = std::thread(wire::pump, own_messages_, messages_line_);
      back_ = std::thread(wire::pump, messages_line_, own_messages_);
    }
    thread_ = std::thread([this] { run(); });
  }
  ~RemoteWorker() override {
    end();
    thread_.join();
    if (there_.joinable()) there_.join(), back_.join();
    for (int fd : {line_, messages_line_, own_messages_, inner_, printed_, socket_, output_})
      if (fd >= 0) close(fd);
  }

  const std::string& why_not() const { return why_; }
  int take_socket(int) override { return std::exchange(socket_, -1); }
  int take_output(int) override { return std::exchange(output_, -1); }
  pid_t pid() const override { return pid_ > 0 ? static_cast<pid_t>(pid_) : 1; }
  bool over_memory() const override { return over_memory_; }
  std::optional<int> ended(int, double seconds) override {
    for (const double until = now() + seconds;; usleep(2000)) {
      {
        std::lock_guard lock(mutex_);
        if (status_ || now() >= until) return status_;
      }
    }
  }
  void end() override {
    ending_ = true;
    shutdown(line_, SHUT_RDWR);
    if (messages_line_ >= 0) shutdown(messages_line_, SHUT_RDWR);
    if (own_messages_ >= 0) shutdown(own_messages_, SHUT_RDWR);
    shutdown(inner_, SHUT_RDWR);
  }

 private:
  void run() {
    for (;;) {
      pollfd p[2] = {{line_, POLLIN, 0}, {inner_, POLLIN, 0}};
      if (poll(p, 2, -1) < 0) continue;
      if ((p[0].revents != 0 && !from_agent()) || (p[1].revents != 0 && !from_judge())) break;
    }
    // Ended by neither of us: the agent or its node is gone.
    if (std::lock_guard lock(mutex_); !status_ && !ending_) agents_.lost(agent_);
    shutdown(inner_, SHUT_RDWR);
    shutdown(line_, SHUT_RDWR);
    if (own_messages_ >= 0) shutdown(own_messages_, SHUT_RDWR);
  }
  bool from_agent() {
    wire::Record head;
    if (!wire::receive_record(line_, head, bytes_)) return false;
    switch (head.kind) {
      case wire::Kind::contents:
        return mirrors_.receive(bytes_, true);
      case wire::Kind::file:
        if (file_ >= 0) close(file_);
        file_ = wire::memory_file({bytes_.data(), bytes_.size()});
        return file_ >= 0;
      case wire::Kind::output:
        return write(printed_, bytes_.data(), bytes_.size()) >= 0;
      case wire::Kind::packet:
        if (bytes_.size() < sizeof(protocol::Header)) return false;
        return pass_on(std::exchange(file_, -1)) || ending_;
      case wire::Kind::ended: {
        wire::Ended e;
        if (bytes_.size() != sizeof e) return false;
        std::memcpy(&e, bytes_.data(), sizeof e);
        over_memory_ = e.memory != 0;
        std::lock_guard lock(mutex_);
        status_ = e.status;
        return false;
      }
      default:
        return false;
    }
  }
  // The worker's packet as it is.
  bool pass_on(int fd) {
    iovec io{bytes_.data(), bytes_.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr m{};
    m.msg_iov = &io, m.msg_iovlen = 1;
    if (fd >= 0) {
      m.msg_control = control, m.msg_controllen = sizeof control;
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    const bool ok = sendmsg(inner_, &m, MSG_NOSIGNAL) >= 0;
    if (fd >= 0) close(fd);
    return ok;
  }
  bool from_judge() {
    std::vector<char> packet(protocol::kMaxPacket);
    int fd = -1;
    const ssize_t n = protocol::receive_packet(inner_, packet.data(), packet.size(), fd);
    if (n <= 0) {
      ending_ = true;
      return false;
    }
    protocol::Header h;
    bool ok = n >= static_cast<ssize_t>(sizeof h);
    if (ok) std::memcpy(&h, packet.data(), sizeof h);
    if (ok && fd >= 0) {
      ok = wire::file_contents(fd, bytes_, wire::kMostBytes) &&
           wire::send_record(line_, wire::Kind::file, {bytes_.data(), bytes_.size()});
      if (protocol::Buffer b; ok && h.type == protocol::Type::buffer) {
        std::memcpy(&b, packet.data() + sizeof h, sizeof b);
        ok = mirrors_.add(fd, b.id, b.writable != 0, b.writable != 0);
      }
    }
    if (fd >= 0) close(fd);
    if (ok && (h.type == protocol::Type::run || h.type == protocol::Type::replay)) {
      ok = mirrors_.send_changed(line_, false);
      mirrors_.ran();
    }
    return ok && wire::send_record(line_, wire::Kind::packet, {packet.data(), static_cast<std::size_t>(n)});
  }

  Agents& agents_;
  int agent_, line_, messages_line_, own_messages_ = -1;
  int socket_ = -1, inner_ = -1, output_ = -1, printed_ = -1, file_ = -1;
  std::int64_t pid_ = 0;
  std::string why_;
  std::atomic<bool> ending_{false}, over_memory_{false};
  std::mutex mutex_;
  std::optional<int> status_;
  wire::Mirrors mirrors_;
  std::vector<char> bytes_;
  std::thread thread_, there_, back_;
};

Agents::Agents(int count, const std::string& launcher) : controls_(static_cast<std::size_t>(count), -1) {
  hosts_.resize(controls_.size());
  has_program_.resize(controls_.size());
  const fs::path agent = build_dir() / "bin/ridge-agent";
  if (!fs::exists(agent))
    throw Error(Exit::environment, "the rank agents need MPI, which was not found when this ridge was built",
                "load the site's MPI module and build again");
  std::vector<std::string> argv;
  std::istringstream words(launcher);
  for (std::string word; words >> word;) argv.push_back(word);
  if (argv.empty() || find_program({argv[0]}).empty())
    throw Error(Exit::environment, fmt::format("the launcher of ranks, '{}', is not on PATH", launcher),
                "--ranks-through, or `mpi` in the site's profile, names one: \"srun --mpi=pmix\"");
  argv[0] = find_program({argv[0]}).string();
  argv.insert(argv.end(), {"-n", std::to_string(count)});
  const bool mpirun = std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    const std::string name = fs::path(word).filename().string();
    return name == "mpirun" || name == "mpiexec";
  });
  if (mpirun) {
    argv.insert(argv.end(), {"-x", "RIDGE_JUDGE", "-x", "RIDGE_AGENT_TOKEN"});
    if (geteuid() == 0) argv.push_back("--allow-run-as-root");
  }
  argv.insert(argv.end(), {agent.string(), "serve"});

  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, 256) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      getrandom(token_, sizeof token_, 0) != sizeof token_)
    throw Error(Exit::environment, std::string("cannot listen for the agents: ") + std::strerror(errno), "try again");
  setenv("RIDGE_JUDGE", addresses(ntohs(address.sin_port)).c_str(), 1);
  setenv("RIDGE_AGENT_TOKEN", fmt::format("{:016x}{:016x}", token_[0], token_[1]).c_str(), 1);
  launch(argv);
  const double until = now() + kStart;
  for (int come = 0; come < count;) {
    wire::Opening o;
    const int fd = accept_one(o, 0.2);
    const auto r = static_cast<std::size_t>(o.rank);
    if (fd >= 0 && o.line == wire::Line::control && o.size == controls_.size() && r < controls_.size() &&
        controls_[r] < 0) {
      controls_[r] = fd, hosts_[r] = o.host, ++come;
      continue;
    }
    if (fd >= 0) close(fd);
    if (!launcher_ended() && now() < until) continue;
    stop();
    throw Error(Exit::environment,
                fmt::format("{} of {} agents came ({}):\n{}", come, count, fmt::join(argv, " "),
                            capped(printable(file_text(scratch_.path() / "launcher")), 2000)),
                "does the launcher start an MPI program on these nodes? `srun --mpi=list` names what it can");
  }
  unsetenv("RIDGE_AGENT_TOKEN");
}

Agents::~Agents() { stop(); }

void Agents::launch(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  const std::string words = (scratch_.path() / "launcher").string();
  launcher_ = fork_child();
  if (launcher_ != 0) return;
  const int out = open(words.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
  if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
  isolate_child(3);
  execv(args[0], args.data());
  _exit(127);
}

bool Agents::launcher_ended() const {
  siginfo_t info{};
  return launcher_ <= 0 ||
         (waitid(P_PID, static_cast<id_t>(launcher_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

void Agents::stop() {
  for (int& c : controls_)  // agents end with it
    if (c >= 0) close(std::exchange(c, -1));
  for (auto& [key, fd] : waiting_) close(fd);
  waiting_.clear();
  if (listener_ >= 0) close(std::exchange(listener_, -1));
  for (const double until = now() + kEnd; !launcher_ended() && now() < until;) usleep(5000);
  if (launcher_ > 0) end_child(launcher_);
  launcher_ = -1;
}

std::string Agents::nodes() const {
  const std::set<std::string> names(hosts_.begin(), hosts_.end());
  return fmt::format("{} agents on {} {}: {}", count(), names.size(), names.size() == 1 ? "node" : "nodes",
                     fmt::join(names, ", "));
}

int Agents::accept_one(wire::Opening& o, double seconds) {
  pollfd p{listener_, POLLIN, 0};
  if (poll(&p, 1, static_cast<int>(seconds * 1000)) <= 0) return -1;
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return -1;
  const timeval patience{2, 0}, none{0, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (!wire::receive_all(fd, &o, sizeof o) || o.magic != wire::kMagic || o.token[0] != token_[0] ||
      o.token[1] != token_[1]) {
    close(fd);
    return -1;
  }
  o.host[sizeof o.host - 1] = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
  wire::keep_alive(fd);
  return fd;
}

int Agents::wait_for(wire::Line line, std::uint64_t worker) {
  for (const double until = now() + kConnect; now() < until;) {
    if (auto at = waiting_.find({line, worker}); at != waiting_.end()) {
      const int fd = at->second;
      waiting_.erase(at);
      return fd;
    }
    wire::Opening o;
    const int fd = accept_one(o, 0.2);
    if (fd >= 0) waiting_[{o.line, o.worker}] = fd;
  }
  return -1;
}

void Agents::lost(int agent) {
  std::lock_guard lock(mutex_);
  if (lost_.empty())
    lost_ = fmt::format("the agent of rank {} on {} was lost", agent, hosts_[static_cast<std::size_t>(agent)]);
}

void Agents::require_all() {
  std::lock_guard lock(mutex_);
  if (!lost_.empty()) throw Error(Exit::environment, lost_, "the submission is not to blame: grade it again");
}

std::shared_ptr<RankHost> Agents::start(const fs::path& program, Role role, int rank, int ranks, int messages) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= controls_.size())
    throw Error(Exit::environment, fmt::format("there are {} agents, and {} ranks", controls_.size(), ranks),
                "start more");
  const std::uint64_t worker = next_worker_++;
  bool ok = true;
  if (!has_program_[r]) {
    ok = wire::send_record(controls_[r], wire::Kind::program, file_text(program));
    has_program_[r] = true;
  }
  const wire::Start s{worker, static_cast<std::uint32_t>(role), static_cast<std::uint32_t>(rank),
                      static_cast<std::uint32_t>(ranks), 0};
  ok = ok && wire::send_record(controls_[r], wire::Kind::start, &s, sizeof s);
  const int line = ok ? wait_for(wire::Line::worker, worker) : -1;
  const int messages_line = line >= 0 ? wait_for(wire::Line::messages, worker) : -1;
  if (messages_line < 0) {
    if (line >= 0) close(line);
    lost(rank);
    require_all();
  }
  auto host = std::make_shared<RemoteWorker>(*this, rank, line, messages_line, messages);
  if (!host->why_not().empty())
    throw Error(Exit::environment, fmt::format("no worker could be started on {}: {}", hosts_[r], host->why_not()),
                "run `ridge doctor` on that node");
  return host;
}

}  // namespace ridge
