#include "cluster/src/slurm/limits.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/src/base/strings.hpp"
#include "cluster/src/slurm/slurm.hpp"

namespace ridge::cluster {

namespace {

constexpr double kAnswerSeconds = 8;  // a database that is away must not hold a grading up

// The smaller one counts; "" and a negative number are no limit.
void lower_to(int& limit, std::string& by, const std::string& text, const std::string& name, int each = 1) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || each <= 0) return;
  const int value = std::max(0, std::atoi(text.c_str()) / each);
  if (!by.empty() && value >= limit) return;
  limit = value, by = name;
}

// "cpu=16,gres/gpu=2,gres/gpu:h100=2,node=4"
void lower_by_tres(JobLimits& limits, const std::string& tres, const std::string& name, const TaskResources& task) {
  for (const std::string& part : split(tres, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) continue;
    const std::string what = part.substr(0, equals);
    const int each = what == "gres/gpu" || (what == "gres/gpu:" + task.gpu_type && !task.gpu_type.empty())
                         ? task.gpus * task.nodes
                     : what == "cpu"  ? task.cpus * task.nodes
                     : what == "node" ? task.nodes
                                      : 0;
    lower_to(limits.running, limits.running_by, part.substr(equals + 1), fmt::format("{} {}", name, part), each);
  }
}

std::string user_name() {
  const passwd* p = getpwuid(geteuid());
  return p != nullptr ? p->pw_name : std::to_string(geteuid());
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "QoS=class" of `scontrol -o show partition`
std::string word_of(const std::string& text, const std::string& key) {
  for (const std::string& word : split(first_line(text), ' '))
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  return {};
}

}  // namespace

TaskResources resources_of(const SlurmOptions& o) {
  TaskResources t;
  t.cpus = o.cpus, t.nodes = std::max(1, o.nodes);
  for (const std::string& gres : split(o.gres, ',')) {
    const auto words = split(gres, ':');
    if (words.empty() || words[0] != "gpu") continue;
    const bool counted = words.size() > 1 && words.back().find_first_not_of("0123456789") == std::string::npos;
    t.gpus += counted ? std::atoi(words.back().c_str()) : 1;
    if (words.size() > (counted ? 2u : 1u)) t.gpu_type = words[1];
  }
  return t;
}

void add_qos_limits(JobLimits& l, const std::string& row, const TaskResources& task) {
  const auto f = split(row, '|');
  if (f.size() < 9) return;
  auto of = [&](const char* what) { return fmt::format("{} of QOS {}:", what, f[0]); };
  auto counted = [&](std::size_t i, const char* what) { return fmt::format("{} {}", of(what), f[i]); };
  lower_to(l.running, l.running_by, f[1], counted(1, "MaxJobsPerUser"));
  lower_to(l.submitted, l.submitted_by, f[2], counted(2, "MaxSubmitJobsPerUser"));
  lower_to(l.running, l.running_by, f[3], counted(3, "MaxJobsPerAccount"));
  lower_to(l.submitted, l.submitted_by, f[4], counted(4, "MaxSubmitJobsPerAccount"));
  lower_to(l.running, l.running_by, f[5], counted(5, "GrpJobs"));
  lower_to(l.submitted, l.submitted_by, f[6], counted(6, "GrpSubmitJobs"));
  lower_by_tres(l, f[7], of("MaxTRESPerUser"), task);
  lower_by_tres(l, f[8], of("GrpTRES"), task);
}

void add_assoc_limits(JobLimits& l, const std::string& row, const TaskResources& task) {
  const auto f = split(row, '|');
  if (f.size() < 8) return;
  auto of = [&](const char* what) { return fmt::format("{} of account {}:", what, f[0]); };
  auto counted = [&](std::size_t i, const char* what) { return fmt::format("{} {}", of(what), f[i]); };
  lower_to(l.running, l.running_by, f[2], counted(2, "MaxJobs"));
  lower_to(l.submitted, l.submitted_by, f[3], counted(3, "MaxSubmitJobs"));
  lower_to(l.running, l.running_by, f[4], counted(4, "GrpJobs"));
  lower_to(l.submitted, l.submitted_by, f[5], counted(5, "GrpSubmitJobs"));
  lower_by_tres(l, f[6], of("GrpTRES"), task);
}

JobLimits job_limits(const SlurmOptions& o, std::string& why) {
  JobLimits limits;
  const std::string config = slurm({"scontrol", "show", "config"}, why).value_or("");
  const std::string enforced = configured(config, "AccountingStorageEnforce");
  if (configured(config, "AccountingStorageType").find("slurmdbd") == std::string::npos ||
      (enforced.find("limits") == std::string::npos && enforced.find("qos") == std::string::npos))
    return limits;
  auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"sacctmgr", "-nP", "show"});
    return slurm(words, why, kAnswerSeconds);
  };
  const std::string user = user_name(), cluster = configured(config, "ClusterName");
  std::string account = o.account;
  if (account.empty()) {
    const auto text = ask({"user", user, "format=DefaultAccount"});
    if (!text) return limits;
    account = first_line(*text);
  }
  const auto rows = ask({"assoc", "where", "user=" + user, "cluster=" + cluster, "account=" + account,
                         std::string("format=") + kAssocColumns});
  if (!rows) return limits;
  const TaskResources task = resources_of(o);
  std::string default_qos;
  for (const std::string& row : split(*rows, '\n')) {
    const auto f = split(row, '|');
    if (f.size() < 8 || (!f[1].empty() && f[1] != o.partition)) continue;  // one of another partition
    add_assoc_limits(limits, row, task);
    default_qos = f[7];
  }
  std::vector<std::string> names = {!o.qos.empty() ? o.qos : !default_qos.empty() ? default_qos : "normal"};
  std::vector<std::string> partition = {"scontrol", "-o", "show", "partition"};
  if (!o.partition.empty()) partition.push_back(o.partition);
  std::string ignored;
  for (const std::string& line : split(slurm(partition, ignored).value_or(""), '\n'))
    if (!o.partition.empty() || word_of(line, "Default") == "YES")
      if (const std::string own = word_of(line, "QoS"); !own.empty() && own != "N/A") names.push_back(own);
  for (const std::string& name : names) {
    const auto text = ask({"qos", "where", "name=" + name, std::string("format=") + kQosColumns});
    if (!text) return limits;
    add_qos_limits(limits, first_line(*text), task);
  }
  why.clear();
  return limits;
}

std::optional<Federation> federation_in(const std::string& answer) {
  Federation f;
  for (const std::string& line : split(answer, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    const std::string cluster = value.substr(0, value.find(':'));
    if (key == "Federation") f.name = value;
    if (key == "Self") f.self = cluster;
    if (key == "Sibling") f.siblings.push_back(cluster);
  }
  if (f.name.empty() || f.self.empty()) return std::nullopt;
  return f;
}

}  // namespace ridge::cluster
