#include "cluster/src/jobs/array_task.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/jobs/probe.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

using nlohmann::json;

constexpr double kPreflightSeconds = 120;  // compiling the measurement takes most of it

// Rewrites a file every two seconds, as a sign of life for the collector.
class Heartbeat {
 public:
  explicit Heartbeat(fs::path file) : file_(std::move(file)), thread_([this] { beat(); }) {}
  ~Heartbeat() {
    stop_ = true;
    thread_.join();
  }

 private:
  void beat() {
    const fs::path next = file_.string() + "." + new_nonce().substr(0, 8) + ".tmp";
    for (int count = 0; !stop_; ++count) {
      std::ofstream out(next, std::ios::trunc);
      out << node_name() << ' ' << getpid() << ' ' << count << '\n';
      out.close();
      if (out.good()) rename(next.c_str(), file_.c_str());  // a full disk keeps the last heartbeat
      for (int i = 0; i < 20 && !stop_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    unlink(next.c_str());
  }
  fs::path file_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The children of this process. As the subreaper it inherits descendants that lost their parent.
std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code ec;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", ec)) {
    std::ifstream in(thread.path() / "children");
    for (pid_t pid; in >> pid;) all.push_back(pid);
  }
  return all;
}

void end_all_children() {
  for (int i = 0; i < 500; ++i) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto left = children();
    if (left.empty()) return;
    for (pid_t pid : left) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

struct Ended {
  int code = -1, signal = 0;
  bool timed_out = false;
  double seconds = 0;
};

// Runs the judge in its own process group. At the limit it gets TERM, to clean up, and KILL half a second later; then
// all remaining descendants are killed.
Ended run_judge(const std::vector<std::string>& argv, const fs::path& log, double limit) {
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  const double start = steady_now();
  const pid_t pid = fork_child();
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
    isolate_child(3);
    execv(args[0], args.data());
    _exit(127);
  }
  Ended e;
  if (pid < 0) return e;
  int status = 0;
  double told = 0;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid) break;
    const double now = steady_now();
    if (told == 0 && now - start > limit) {
      e.timed_out = true, told = now;
      kill(-pid, SIGTERM);
      kill(pid, SIGTERM);
    }
    if (told != 0 && now - told > 0.5) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  status = wait_child(pid);
  e.seconds = steady_now() - start;
  if (WIFEXITED(status)) e.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) e.signal = WTERMSIG(status);
  end_all_children();
  return e;
}

std::string why_not(const Ended& e, const std::string& limit, const std::string& log) {
  std::string last = log.substr(log.size() > 600 ? log.size() - 600 : 0);
  last = capped(printable(last), 600);
  if (e.timed_out) return fmt::format("{} {} s", kHung, limit);
  if (e.code == 2) return "usage error of ridge: " + last;
  if (e.code == 3) return "the environment failed: " + last;
  if (e.signal != 0) return fmt::format("the judge was ended by signal {}: {}", e.signal, last);
  return fmt::format("the judge ended with exit code {}: {}", e.code, last);
}

// Makes one attempt and returns the JSON for the spool: the record's text, byte for byte, or the reason why there is
// none.
json attempt(const json& plan, const json& item, const fs::path& scratch) {
  const std::string token = item.at("token"), limit = std::to_string(plan.at("limit_s").get<int>());
  const fs::path record = scratch / (token + ".record"), log = scratch / (token + ".log");
  std::vector<std::string> argv = {plan.at("program"),    "grade",     plan.at("lab"),     "--submission",
                                   item.at("submission"), "--backend", plan.at("backend"), "--json",
                                   record.string()};
  for (const json& option : plan.at("options")) argv.push_back(option);
  const bool builds = plan.value("phase", "judge") == "build";
  if (builds)
    argv.insert(argv.end(), {"--build-into", built_dir(plan.at("shared").get<std::string>(), token).string()});
  else if (const std::string built = item.value("built", ""); !built.empty())
    argv.insert(argv.end(), {"--built", built});
  // A container's command precedes it: "apptainer exec --nv IMAGE".
  if (const std::string container = plan.value("container", ""); !container.empty())
    argv.insert(argv.begin(), {"/bin/sh", "-c", "exec " + container + " \"$@\"", "ridge-array-task"});
  Ended e = run_judge(argv, log, plan.at("limit_s").get<double>());
  json out = {{"schema", "ridge.attempt/1"}, {"token", token},
              {"node", node_name()},         {"exit_code", e.code},
              {"seconds", e.seconds},        {"job", environment("SLURM_ARRAY_JOB_ID", environment("RIDGE_JOB"))}};
  const std::string words = read_regular(log, 64 << 20).value_or("");
  auto text = read_regular(record, 16 << 20);
  std::error_code ec;
  if (builds && e.code == 0 && !e.timed_out &&
      fs::is_directory(built_dir(plan.at("shared").get<std::string>(), token), ec)) {
    out["kind"] = "built";
  } else if ((e.code == 0 || e.code == 1 || e.code == 4) && !e.timed_out && text && !text->empty()) {
    out["kind"] = "graded";
    out["record"] = *text;
  } else {
    out["kind"] = "not-graded";
    out["hung"] = e.timed_out;
    out["usage"] = e.code == static_cast<int>(Exit::usage) && !e.timed_out;
    out["reason"] = e.code == 0 || e.code == 1 || e.code == 4 ? "ridge left no record: " + capped(printable(words), 300)
                                                              : why_not(e, limit, words);
  }
  fs::remove(record, ec);
  fs::remove(log, ec);
  return out;
}

// Publishes a result, and retries for five minutes: an unwritable shared folder is often back in one.
void publish_patiently(const fs::path& file, const std::string& text) {
  for (int tries = 0;; ++tries) try {
      if (!publish(file, text)) tell("ridge-array-task: {} was published before; this one is dropped\n", shown(file));
      return;
    } catch (const Error& e) {
      if (tries >= 60) throw;
      tell("ridge-array-task: {}; trying again\n", e.what());
      std::this_thread::sleep_for(std::chrono::seconds(tries < 3 ? 1 : 5));
    }
}

}  // namespace

std::string node_name() {
  std::string name = environment("RIDGE_NODE", environment("SLURMD_NODENAME"));
  char host[256] = "";
  if (name.empty() && gethostname(host, sizeof host - 1) == 0) name = host;
  return name;
}

int run_array_task(const fs::path& batch, int task) {
  std::error_code asked;
  if (fs::exists(batch / "word", asked)) return probe(batch);  // a job of `ridge cluster doctor`
  auto text = read_regular(batch / "plan.json", 64 << 20);
  if (!text)
    throw Error(Exit::environment, "cannot read " + shown(batch / "plan.json"),
                "check that the shared folder is mounted on this node");
  json plan;
  try {
    plan = json::parse(*text);
    const fs::path shared = plan.at("shared").get<std::string>();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    TemporaryDir scratch("job");
    // Only published files outlive the job: everything else goes into the scratch folder.
    setenv("TMPDIR", scratch.path().c_str(), 1);
    setenv("RIDGE_RESULTS", (scratch.path() / "results").c_str(), 1);
    setenv("RIDGE_NO_BUILD", "1", 1);
    unsetenv("RIDGE_SIGNING_KEY");
    setenv("XDG_CONFIG_HOME", scratch.path().c_str(), 1);
    if (const std::string key = plan.value("signing_key", ""); !key.empty())
      setenv("RIDGE_SIGNING_KEY", key.c_str(), 1);
    if (const std::string arch = plan.value("arch", ""); !arch.empty()) setenv("RIDGE_CUDA_ARCH", arch.c_str(), 1);
    Heartbeat alive(
        beat_file(shared, plan.at("name"), task));  // after setenv, because its thread reads the environment

    std::string sick;
    if (const std::string preflight = plan.value("preflight", ""); !preflight.empty()) {
      const fs::path log = scratch.path() / "preflight.log";
      Ended e = run_judge({"/bin/sh", "-c", preflight}, log, kPreflightSeconds);
      if (e.code != 0)
        sick =
            fmt::format("preflight: {}", e.timed_out ? fmt::format("it did not end within {:.0f} s", kPreflightSeconds)
                                                     : capped(printable(read_regular(log, 1 << 20).value_or("")), 300));
    }
    for (const json& item : plan.at("tasks").at(static_cast<std::size_t>(task))) {
      const std::string token = item.at("token");
      std::error_code ec;
      if (fs::exists(spool_file(shared, token), ec) || fs::exists(taken_file(shared, token), ec))
        continue;                                               // an earlier run of this task published it
      if (fs::exists(shared / "fenced" / token, ec)) continue;  // another attempt replaced it
      json out = sick.empty() ? attempt(plan, item, scratch.path())
                              : json{{"schema", "ridge.attempt/1"}, {"token", token}, {"node", node_name()},
                                     {"kind", "not-graded"},        {"sick", true},   {"reason", sick}};
      publish_patiently(spool_file(shared, token), out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
      tell("{} {}\n", token, out["kind"].get<std::string>());
      fs::remove_all(scratch.path() / "results", ec);
    }
  } catch (const json::exception& e) {
    throw Error(Exit::environment, fmt::format("{} is not a plan: {}", shown(batch / "plan.json"), e.what()),
                "`ridge cluster cancel`, then `ridge cluster grade`, makes a new one");
  }
  return 0;
}

}  // namespace ridge::cluster
