#include "serve/net/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grader/sandbox/process.hpp"

namespace ridge::net {

namespace {

void close_both(const int (&ends)[2]) {
  for (int fd : ends)
    if (fd >= 0) close(fd);
}

}  // namespace

Child start_child(const std::vector<std::string>& argv, bool with_input, int signal) {
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  const bool ready =
      (!with_input || pipe2(in, O_CLOEXEC) == 0) && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
  const pid_t parent = getpid();
  const pid_t pid = ready ? fork_child() : -1;
  if (pid == 0) {
    dup2(with_input ? in[0] : open("/dev/null", O_RDONLY), 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    isolate_child(3);
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != parent) _exit(127);  // it died before
    execv(args[0], args.data());
    _exit(127);
  }
  if (pid < 0) {
    close_both(in), close_both(out), close_both(err);
    return {};
  }
  if (with_input) close(in[0]);
  close(out[1]), close(err[1]);
  return {pid, in[1], out[0], err[0]};
}

void kill_child(pid_t pid) {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);  // has not made its group yet
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0;
}

}  // namespace ridge::net
