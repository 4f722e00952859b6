#include "grader/sandbox/rank_sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox_config.hpp"

namespace ridge {

namespace {

void close_all(std::vector<int>& fds) {
  for (int& fd : fds)
    if (fd >= 0) close(fd);
  fds.clear();
}

// One byte with all descriptors.
bool hand_out(int to, const std::vector<int>& fds) {
  char byte = 0;
  iovec part{&byte, 1};
  std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), fds.data(), fds.size() * sizeof(int));
  return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

RankSandbox::RankSandbox(Sandbox sandbox, const std::vector<std::string>& argv, int ranks)
    : statuses_(static_cast<std::size_t>(ranks)) {
  sandbox.ranks = ranks;
  sandbox.last_kept = sandbox::kRanksFd;
  sandbox.tasks *= static_cast<unsigned>(ranks);
  sandbox.memory_bytes *= static_cast<std::uint64_t>(ranks);
  sandbox.tmpfs_bytes *= static_cast<std::uint64_t>(ranks);
  std::vector<int> theirs;
  auto fail = [&](const std::string& what) {
    close_all(theirs), close_all(sockets_), close_all(outputs_);
    if (control_ >= 0) close(control_);
    throw Error(Exit::environment, "cannot start several ranks: " + what, "run `ridge doctor`, or close some programs");
  };
  std::vector<int> their_outputs;
  for (int r = 0; r < ranks; ++r) {
    int pair[2], out[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) fail(std::strerror(errno));
    sockets_.push_back(pair[0]);
    theirs.push_back(pair[1]);
    if (pipe2(out, O_CLOEXEC) != 0) fail(std::strerror(errno));
    outputs_.push_back(out[0]);
    their_outputs.push_back(out[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
  }
  theirs.insert(theirs.end(), their_outputs.begin(), their_outputs.end());
  int control[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) fail(std::strerror(errno));
  control_ = control[0];
  run_ = std::make_unique<SandboxRun>(sandbox, argv);
  pid_ = fork_child();
  if (pid_ == 0) {
    const int null = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, 2}) dup2(null, fd);
    const int high = fcntl(control[1], F_DUPFD_CLOEXEC, 64);
    dup2(high, sandbox::kRanksFd);
    run_->exec(sandbox::kRanksFd);
  }
  close(control[1]);
  const std::string not_started = run_->started(pid_);
  const bool handed = not_started.empty() && hand_out(control_, theirs);
  close_all(theirs);
  if (handed) return;
  end();
  fail(not_started.empty() ? "the sandbox does not take their sockets" : not_started);
}

RankSandbox::~RankSandbox() {
  end();
  close_all(sockets_), close_all(outputs_);
  if (control_ >= 0) close(control_);
}

int RankSandbox::take_socket(int rank) { return std::exchange(sockets_[static_cast<std::size_t>(rank)], -1); }
int RankSandbox::take_output(int rank) { return std::exchange(outputs_[static_cast<std::size_t>(rank)], -1); }

std::optional<int> RankSandbox::ended(int rank, double seconds) {
  for (const double until = now() + seconds;;) {
    {
      std::lock_guard lock(mutex_);
      sandbox::RankEnd e{};
      while (recv(control_, &e, sizeof e, MSG_DONTWAIT) == sizeof e)
        if (e.rank >= 0 && e.rank < ranks()) statuses_[static_cast<std::size_t>(e.rank)] = e.status;
      if (statuses_[static_cast<std::size_t>(rank)] || now() >= until) return statuses_[static_cast<std::size_t>(rank)];
    }
    usleep(2000);
  }
}

void RankSandbox::end() {
  std::lock_guard lock(mutex_);
  if (pid_ <= 0) return;
  end_child(pid_);
  run_->finish();
  pid_ = -1;
}

}  // namespace ridge
