#include "serve/check_run.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "grader/base/clock.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"
#include "serve/net/child.hpp"

namespace ridge::serve {

namespace {

constexpr int kLookMs = 50;                    // how often a wish to stop is looked for
constexpr double kPatience = 5;                // seconds from SIGTERM, at which `ridge` cleans up, to SIGKILL
constexpr std::size_t kMostErrors = 64 << 10;  // of stderr
constexpr std::size_t kLongestStep = 400;

// What one pipe has; false at its end.
bool take(int fd, std::string& text) {
  std::array<char, 8192> buffer{};
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

}  // namespace

CheckRun::~CheckRun() {
  stop();
  if (thread_.joinable()) thread_.join();
}

bool CheckRun::start(const std::string& lab, const std::string& task) {
  std::thread before;
  {
    std::lock_guard lock(mutex_);
    if (running_) return false;
    lab_ = lab, task_ = task, step_ = "starting", stop_ = false;
    running_ = true;  // no other start gets past this
    before = std::move(thread_);
  }
  // Its check has ended, but it may still tell so. Who hears that may ask for the state: the mutex is free here.
  if (before.joinable()) before.join();
  try {
    std::thread next = start_([this, lab, task] { run(lab, task); });  // throws where no thread can be had
    std::lock_guard lock(mutex_);
    thread_ = std::move(next);
  } catch (...) {
    std::lock_guard lock(mutex_);
    running_ = false;
    throw;
  }
  return true;
}

bool CheckRun::stop() {
  std::lock_guard lock(mutex_);
  if (running_) stop_ = true;
  return running_;
}

bool CheckRun::stopping() const {
  std::lock_guard lock(mutex_);
  return stop_;
}

nlohmann::json CheckRun::state() const {
  std::lock_guard lock(mutex_);
  if (!running_) return {{"running", false}};
  return {{"running", true}, {"lab", lab_}, {"task", task_}, {"step", step_}};
}

void CheckRun::run(const std::string& lab, const std::string& task) {
  const double begin = now();
  tell_("step", {{"lab", lab}, {"task", task}, {"text", "starting"}});
  std::vector<std::string> argv = {program_.string(), "check", lab, "--steps"};
  if (!task.empty()) argv.insert(argv.end(), {"--task", task});
  const net::Child child = net::start_child(argv, false, SIGTERM);  // where the server dies, it removes what it made
  const pid_t pid = child.pid;
  std::array<int, 2> fds{child.out, child.err};
  std::string steps, errors;
  double stopped = 0;
  while (pid > 0 && (fds[0] >= 0 || fds[1] >= 0)) {
    if (stopped == 0 && stopping()) kill(pid, SIGTERM), stopped = now();
    if (stopped != 0 && now() - stopped > kPatience) break;
    std::array<pollfd, 2> p{{{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}}};
    if (poll(p.data(), p.size(), kLookMs) <= 0) continue;
    if (p[0].revents != 0 && !take(fds[0], steps)) close(fds[0]), fds[0] = -1;
    if (p[1].revents != 0 && !take(fds[1], errors)) close(fds[1]), fds[1] = -1;
    if (errors.size() > kMostErrors) errors.resize(kMostErrors);
    for (std::size_t end; (end = steps.find('\n')) != std::string::npos; steps.erase(0, end + 1)) {
      const std::string text = printable(steps.substr(0, std::min(end, kLongestStep)));
      {
        std::lock_guard lock(mutex_);
        step_ = text;
      }
      tell_("step", {{"lab", lab}, {"task", task}, {"text", text}});
    }
    if (steps.size() > kLongestStep) steps.clear();
  }
  for (int fd : fds)
    if (fd >= 0) close(fd);
  // It may have closed its output and live on; where it does not end when asked, it is killed.
  while (pid > 0 && !net::has_ended(pid)) {
    if (stopped == 0 && stopping()) kill(pid, SIGTERM), stopped = now();
    if (stopped != 0 && now() - stopped > kPatience) break;
    usleep(2000);
  }
  const int status = pid > 0 ? end_child(pid) : -1;
  const int code = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::string text = printable(errors);
  const bool judged = code == 0 || code == 1 || code == 4 || (code == 3 && text.empty());  // 3: all tasks were skipped
  const char* outcome = stopped != 0 ? "stopped" : judged ? "judged" : "failed";
  if (pid <= 0) text = "cannot start " + program_.filename().string();
  if (text.empty() && code < 0 && stopped == 0) text = "the check ended without a result; ./ridge check says more";
  {
    std::lock_guard lock(mutex_);
    running_ = false;
  }
  tell_("ended", {{"lab", lab}, {"task", task}, {"outcome", outcome}, {"text", text}, {"seconds", now() - begin}});
}

}  // namespace ridge::serve
