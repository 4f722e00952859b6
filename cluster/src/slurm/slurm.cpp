#include "cluster/src/slurm/slurm.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

// Whether a message says that the controller did not answer, as opposed to a refusal.
bool no_answer(const std::string& message) {
  for (const char* mark : {"ontact slurm controller", "ocket timed out", "onnection refused", "ero Bytes",
                           "ommunication", "ransport endpoint", "temporarily", "try again", "onnection reset",
                           "ot yet ready", "nable to contact", "xpected", "uthentication"})
    if (message.find(mark) != std::string::npos) return true;
  return false;
}

// A user's own settings for these commands would hide jobs and nodes, or send jobs to another cluster than the one
// that is asked about them.
void without_filters() {
  static const bool done = [] {
    std::vector<std::string> names = {"SBATCH_CLUSTERS", "SLURM_CLUSTERS"};
    for (char** e = environ; *e != nullptr; ++e)
      for (const char* head : {"SQUEUE_", "SINFO_", "SCANCEL_"})
        if (std::string_view(*e).substr(0, std::string_view(head).size()) == head)
          names.emplace_back(*e, std::string_view(*e).find('='));
    for (const std::string& name : names) unsetenv(name.c_str());
    return true;
  }();
  (void)done;
}

bool out_of_service(const std::string& state) {
  return state.find_first_of("*#$%!") != std::string::npos || state.rfind("down", 0) == 0 ||
         state.rfind("drain", 0) == 0 || state.rfind("fail", 0) == 0 || state.rfind("maint", 0) == 0;
}

}  // namespace

std::optional<std::string> slurm(const std::vector<std::string>& argv, std::string& why, double seconds) {
  without_filters();
  ProcessResult r = run_process(argv, "/", {.seconds = seconds, .output_bytes = 8 << 20});
  if (!r.started || r.exit_code == 127)
    throw Error(Exit::environment, fmt::format("{} can't be started", argv[0]),
                "run this on a login node of the cluster, with Slurm's commands on PATH");
  if (r.exit_code == 0) return r.output;
  why = r.timed_out ? argv[0] + " did not answer" : capped(printable(trimmed(r.output)), 400);
  return std::nullopt;
}

std::string configured(const std::string& config, const std::string& key) {
  for (const std::string& line : split(config, '\n'))
    if (line.rfind(key, 0) == 0 && line.find_first_not_of(' ', key.size()) == line.find("= "))
      return trimmed(line.substr(line.find("= ") + 2));
  return {};
}

std::optional<std::multimap<std::string, QueuedTask>> queue(const std::string& prefix, EndedTasks* ended,
                                                            std::string* why) {
  std::string message;
  auto text = slurm({"squeue", "--local", "--me", "-h", "-r", "-t", "all", "-o", "%j|%F|%K|%T|%N|%r"}, message);
  if (why != nullptr) *why = message;
  if (!text) return std::nullopt;
  std::multimap<std::string, QueuedTask> all;
  for (const std::string& line : split(*text, '\n')) {
    const auto f = split(line, '|');
    if (line.empty()) continue;
    if (f.size() < 5 || f[3].empty()) return std::nullopt;  // something else, or cut off: it proves nothing
    if (f[0].rfind(prefix, 0) != 0) continue;
    QueuedTask t;
    t.task = std::atoi(f[2].c_str());
    t.job = f[1] + "_" + f[2], t.node = f[4] == "n/a" ? "" : f[4];
    const std::string& state = f[3];
    if (state == "PENDING") {
      static const std::set<std::string> usual = {"",         "None", "Resources", "Priority", "JobArrayTaskLimit",
                                                  "BeginTime"};
      if (f.size() > 5 && usual.count(f[5]) == 0) t.reason = f[5];
      const std::string said = lower(t.reason);
      if (said.find("launch") != std::string::npos || said.find("held") != std::string::npos)
        t.stuck = QueuedTask::Stuck::held;
      else if (said.starts_with("reqnodenotavail") || said.starts_with("nodes required for job are down"))
        t.stuck = QueuedTask::Stuck::nodes_away;
    } else {
      t.state = state == "SUSPENDED" ? QueuedTask::State::suspended : QueuedTask::State::running;
    }
    static const std::set<std::string> over = {"COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",      "NODE_FAIL",
                                               "DEADLINE",  "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY"};
    if (over.count(state) == 0)
      all.emplace(f[0], t);
    else if (ended != nullptr)
      (*ended)[{f[0], t.task}] = {"", state == "PREEMPTED"};
  }
  return all;
}

bool node_is_well(const std::string& node) {
  std::string why;
  const auto text = slurm({"sinfo", "--local", "-h", "-N", "-n", node, "-o", "%T"}, why);
  return text && !text->empty() && std::ranges::none_of(split(*text, '\n'), out_of_service);
}

int max_array_size() {
  std::string why;
  const std::string config = slurm({"scontrol", "show", "config"}, why).value_or("");
  const auto at = config.find("MaxArraySize");
  const auto equals = at == std::string::npos ? at : config.find('=', at);
  const int size = equals == std::string::npos ? 0 : std::atoi(config.c_str() + equals + 1);
  return size > 0 ? size : 1000000;
}

Submitted submit(const std::string& name, const SlurmOptions& o, int tasks, int at_once, int minutes,
                 const std::vector<std::string>& excluded, const fs::path& log,
                 const std::vector<std::string>& command) {
  std::vector<std::string> argv = {
      "sbatch",
      "--parsable",
      "--export=NONE",
      "--no-requeue",
      "--job-name=" + name,
      "--open-mode=append",
      fmt::format("--time={}", minutes),
      fmt::format("--array=0-{}{}", tasks - 1, at_once > 0 ? fmt::format("%{}", at_once) : ""),
      "--output=" + log.string(),
      fmt::format("--nodes={}", std::max(1, o.nodes)),
      "--ntasks-per-node=1",
      "--signal=B:TERM@20"};
  auto option = [&](const char* key, const std::string& value) {
    if (!value.empty()) argv.push_back(std::string(key) + "=" + value);
  };
  option("--partition", o.partition), option("--account", o.account), option("--qos", o.qos), option("--gres", o.gres);
  option("--constraint", o.constraint), option("--mem", o.memory);
  if (o.cpus > 0) option("--cpus-per-task", std::to_string(o.cpus));
  std::string exclude = o.exclude;
  for (const std::string& node : excluded) exclude += (exclude.empty() ? "" : ",") + node;
  option("--exclude", exclude);
  argv.insert(argv.end(), o.more.begin(), o.more.end());
  argv.insert(argv.end(), command.begin(), command.end());
  Submitted s;
  if (auto text = slurm(argv, s.message, 30)) {
    std::string id = trimmed(*text);
    id = trimmed(id.substr(id.rfind('\n') == std::string::npos ? 0 : id.rfind('\n') + 1));
    s.job = id.substr(0, id.find(';'));
    s.kind = Submitted::Kind::accepted;
    if (s.job.empty() || s.job.find_first_not_of("0123456789") != std::string::npos) s.kind = Submitted::Kind::unknown;
    return s;
  }
  s.kind = no_answer(s.message) || s.message.empty() || s.message.find("did not answer") != std::string::npos
               ? Submitted::Kind::unknown
               : Submitted::Kind::refused;
  return s;
}

void cancel_jobs(const std::vector<std::string>& jobs) {
  if (jobs.empty()) return;
  std::vector<std::string> argv = {"scancel", "--quiet"};
  argv.insert(argv.end(), jobs.begin(), jobs.end());
  std::string why;
  slurm(argv, why);
}

int queue_position(const std::string& partition, const std::string& prefix) {
  std::string why;
  std::vector<std::string> argv = {"squeue", "--local", "-h", "-t", "PD", "-S", "-p,i", "-o", "%j"};
  if (!partition.empty()) argv.insert(argv.end(), {"-p", partition});
  auto text = slurm(argv, why);
  if (!text) return -1;
  int before = 0;
  for (const std::string& line : split(*text, '\n')) {
    if (line.rfind(prefix, 0) == 0) return before;
    ++before;
  }
  return -1;
}

std::optional<std::vector<Partition>> partitions() {
  std::string why;
  auto text = slurm({"sinfo", "--local", "-h", "-N", "-o", "%R|%a|%l|%N|%G|%T"}, why);
  if (!text) return std::nullopt;
  std::vector<Partition> all;
  for (const std::string& line : split(*text, '\n')) {
    const auto f = split(line, '|');
    if (f.size() < 6) continue;
    auto at = std::find_if(all.begin(), all.end(), [&](const Partition& p) { return p.name == f[0]; });
    if (at == all.end()) at = all.insert(all.end(), Partition{f[0], f[1], f[2], {}, {}, {}});
    at->nodes.push_back(f[3]);
    if (f[4] != "(null)") at->gres.push_back(f[4]);
    if (!out_of_service(f[5])) at->up.push_back(f[3]);
  }
  return all;
}

}  // namespace ridge::cluster
