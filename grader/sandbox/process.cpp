#include "grader/sandbox/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/patience.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_cgroup.hpp"

namespace ridge {

namespace {

std::mutex children_mutex;
std::set<pid_t> running_children;  // from fork until they are reaped

void kill_group(pid_t pid) {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);  // has not made its group yet
}

// What an exec keeps: ignored signals, of which only those of a user's `nohup` stay.
void reset_signals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction is {};
    sigaction(number, nullptr, &is);
    if (is.sa_handler != SIG_IGN) signal(number, SIG_DFL);
  }
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
}

}  // namespace

pid_t fork_child() {
  std::lock_guard lock(children_mutex);
  // No handler of the parent runs in the child: it could write into a pipe that both share.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t pid = fork();
  if (pid == 0) reset_signals();
  if (pid > 0) running_children.insert(pid);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

int end_child(pid_t pid) {
  kill_group(pid);
  return wait_child(pid);
}

int wait_child(pid_t pid) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  std::lock_guard lock(children_mutex);  // only now: it may take a while to die
  int status = 0;
  waitpid(pid, &status, 0);
  running_children.erase(pid);
  return status;
}

void end_children() {
  children_mutex.lock();  // for good
  for (pid_t pid : running_children) kill_group(pid);
  remove_job_groups();
}

void isolate_child(int first_descriptor) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  reset_signals();
  sigset_t empty;
  sigemptyset(&empty);
  sigprocmask(SIG_SETMASK, &empty, nullptr);
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(first_descriptor), ~0u, 0) == 0) return;
#endif
  for (int fd = first_descriptor; fd < 1024; ++fd) close(fd);
}

ProcessResult run_process(const std::vector<std::string>& argv, const fs::path& dir, const ProcessLimits& limits,
                          const Sandbox* sandbox) {
  ProcessResult result;
  std::optional<SandboxRun> run;
  if (sandbox != nullptr) run.emplace(*sandbox, argv);
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  std::string temporary = "TMPDIR=" + dir.string();
  std::vector<char*> env;
  for (char** e = environ; *e != nullptr; ++e)
    if (dir.empty() || std::strncmp(*e, "TMPDIR=", 7) != 0) env.push_back(*e);
  if (!dir.empty()) env.push_back(temporary.data());
  env.push_back(nullptr);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) {
    result.started = false;
    result.output = std::strerror(errno);
    return result;
  }
  double start = now();
  pid_t pid = fork_child();
  if (pid == 0) {
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    if (run) run->exec(2);
    isolate_child(3);
    if (!dir.empty() && chdir(dir.c_str()) != 0) _exit(127);
    execvpe(args[0], args.data(), env.data());
    _exit(127);
  }
  close(out[1]);
  if (pid < 0) {
    close(out[0]);
    result.started = false;
    result.output = std::strerror(errno);
    return result;
  }
  std::string not_started = run ? run->started(pid) : "";
  const bool limited = sandbox == nullptr || !sandbox->builder || on(Defence::build_limits);
  Patience patience(limited ? limits.seconds : 1e6, [&run] { return run ? run->waited_seconds() : 0; });
  const std::size_t flood = limited ? limits.flood_bytes : SIZE_MAX;
  const std::size_t kept = limited ? limits.output_bytes : SIZE_MAX;
  double look = start;
  std::size_t total = 0;
  char buffer[65536];
  for (;;) {
    double left = patience.left();
    if (left <= 0) result.timed_out = true;
    if (total > flood) result.flooded = true;
    if (run && now() > look) {
      result.out_of_memory = run->over_memory();
      look = now() + 0.1;
    }
    if (result.timed_out || result.flooded || result.out_of_memory) {
      kill(-pid, SIGKILL);
      break;
    }
    pollfd p{out[0], POLLIN, 0};
    double slice = run ? std::min(left, 0.1) : left;  // looks at the memory now and then
    if (poll(&p, 1, static_cast<int>(slice * 1000) + 1) <= 0) continue;
    ssize_t n = read(out[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    total += static_cast<std::size_t>(n);
    if (result.output.size() < kept)
      result.output.append(buffer, std::min<std::size_t>(static_cast<std::size_t>(n), kept - result.output.size()));
  }
  close(out[0]);
  // The program may have closed its output and live on.
  for (int tries = 0;; ++tries) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0) break;
    if (patience.left() <= 0) {
      result.timed_out = true;
      break;
    }
    usleep(tries < 50 ? 100 : 1000);
  }
  int status = end_child(pid);  // and what it left behind
  if (run) {
    run->finish();
    status = run->own_status(status);
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (!not_started.empty()) {
    result.started = false;
    result.exit_code = 127;
    result.signal = 0;
    result.output = fmt::format("{}: {}\n{}", argv[0], not_started, result.output);
  }
  if (result.out_of_memory) result.output += "\nridge: it held more memory than it may, and was stopped";
  result.seconds = now() - start;
  return result;
}

fs::path find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const auto& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t at = 0; at <= folders.size();) {
      std::size_t end = std::min(folders.find(':', at), folders.size());
      fs::path candidate = fs::path(folders.substr(at, end - at)) / name;
      std::error_code ec;
      if (end > at && fs::is_regular_file(candidate, ec) && access(candidate.c_str(), X_OK) == 0) return candidate;
      at = end + 1;
    }
  }
  return {};
}

void become(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(args[0], args.data());
  throw Error(Exit::environment, "cannot start " + argv[0], "run `./ridge build`");
}

}  // namespace ridge
