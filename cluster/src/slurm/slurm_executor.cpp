#include "cluster/src/slurm/slurm_executor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cluster/src/base/strings.hpp"
#include "cluster/src/slurm/limits.hpp"
#include "cluster/src/slurm/slurm.hpp"

namespace ridge::cluster {

namespace {

using Kind = Finding::Kind;

// "30:00", "1:00:00", "2-00:00:00", "infinite" -> minutes
double limit_minutes(const std::string& text) {
  if (text == "infinite" || text == "UNLIMITED") return 1e9;
  int days = 0;
  std::string rest = text;
  if (auto dash = text.find('-'); dash != std::string::npos)
    days = std::atoi(text.c_str()), rest = text.substr(dash + 1);
  double seconds = 0;
  for (const std::string& part : split(rest, ':')) seconds = seconds * 60 + std::atof(part.c_str());
  return days * 1440 + seconds / 60;
}

// "gpu:h100:2(S:0),nvme:1" -> "h100"
std::set<std::string> gpu_types(const std::vector<std::string>& gres) {
  std::set<std::string> types;
  for (const std::string& node : gres)
    for (const std::string& one : split(node, ','))
      if (const auto words = split(one.substr(0, one.find('(')), ':'); words.size() > 2 && words[0] == "gpu")
        types.insert(words[1]);
  return types;
}

// Which limit binds, and whether course.toml asks for more.
void examine_limits(const std::string& name, const Course& c, const CourseLab& lab, std::vector<Finding>& all) {
  std::string why;
  const JobLimits l = job_limits(lab.slurm, why);
  if (!why.empty())
    all.push_back({Kind::doubtful, fmt::format("{}: the limits of its QOS are not known: {}", name, why),
                   "is slurmdbd up? Jobs that a limit refuses are tried again, fewer at a time"});
  if (!l.running_by.empty() && l.running == 0)
    all.push_back({Kind::bad, fmt::format("{}: no job may run: {}", name, l.running_by),
                   "lower what a job asks for in [slurm], or name another qos"});
  else if (!l.running_by.empty() && c.at_once > l.running)
    all.push_back(
        {Kind::doubtful,
         fmt::format("{}: at_once = {}, and {} tasks may run at a time: {}", name, c.at_once, l.running, l.running_by),
         "the smaller number is used"});
  else if (!l.running_by.empty())
    all.push_back({Kind::good, fmt::format("{}: {} tasks at a time, by {}", name, l.running, l.running_by), ""});
  if (!l.submitted_by.empty())
    all.push_back({l.submitted > 0 ? Kind::good : Kind::bad,
                   fmt::format("{}: {} tasks in the queue, by {}", name, l.submitted, l.submitted_by),
                   l.submitted > 0 ? "" : "name another qos in [slurm]"});
  for (const auto& more : {lab.slurm.more, lab.build.more})
    for (const std::string& option : more)
      if (option.rfind("--cluster", 0) == 0 || option.rfind("-M", 0) == 0)
        all.push_back({Kind::bad,
                       fmt::format("{}: {} sends jobs to a cluster that nobody asks about them", name, option),
                       "leave it out, and run this on a login node of that cluster"});
}

void examine_federation(std::vector<Finding>& all) {
  std::string why;
  const auto f = federation_in(slurm({"scontrol", "show", "federation"}, why).value_or(""));
  if (f)
    all.push_back({Kind::good,
                   fmt::format("federation {}: this is cluster {}{}; job arrays run on it alone", f->name, f->self,
                               f->siblings.empty() ? "" : fmt::format(" beside {}", fmt::join(f->siblings, ", "))),
                   ""});
}

}  // namespace

std::optional<JobsSeen> SlurmExecutor::look(const std::string& prefix, std::string& why) {
  JobsSeen seen;
  auto queued = queue(prefix, &seen.ended, &why);
  if (!queued) return std::nullopt;
  seen.queued = std::move(*queued);
  return seen;
}

Submitted SlurmExecutor::submit(const JobRequest& r) {
  return cluster::submit(
      r.name, r.builds ? r.lab.build : r.lab.slurm, r.tasks, r.at_once, r.minutes, r.excluded, r.log,
      {(root_dir() / "cluster/round.sbatch").string(), r.ridge, r.batch.string(), course_.setup, course_.scratch});
}

void SlurmExecutor::cancel(const std::vector<std::string>& jobs) { cancel_jobs(jobs); }

bool SlurmExecutor::cancel_all(const std::string& prefix) {
  const auto queued = queue(prefix);
  if (!queued) return false;
  std::vector<std::string> left;
  for (const auto& [name, task] : *queued) left.push_back(task.job);
  cancel_jobs(left);
  return true;
}

bool SlurmExecutor::node_is_well(const std::string& node) { return cluster::node_is_well(node); }

int SlurmExecutor::most_tasks() { return max_array_size(); }

bool SlurmExecutor::is_submit_limit(const std::string& message) const {
  return message.find("MaxSubmit") != std::string::npos || message.find("job submit limit") != std::string::npos;
}

int SlurmExecutor::position(const std::string& prefix) { return queue_position("", prefix); }

JobLimits SlurmExecutor::limits(const CourseLab& lab, bool builds) {
  std::string why;
  return job_limits(builds ? lab.build : lab.slurm, why);
}

std::vector<std::string> SlurmExecutor::nodes(const CourseLab& lab, bool builds) {
  const std::string& partition = builds ? lab.build.partition : lab.slurm.partition;
  std::vector<std::string> most;
  if (auto all = partitions())
    for (const Partition& p : *all)
      if ((partition.empty() || p.name == partition) && p.up.size() > most.size()) most = p.up;
  return most;
}

JobPaths SlurmExecutor::paths() const {
  return {course_.program.empty() ? root_dir() / "ridge" : course_.program, own_program(), course_.signing_key,
          course_.seeds};
}

void SlurmExecutor::examine(std::vector<Finding>& all) {
  const Course& c = course_;
  auto known = partitions();
  if (!known) {
    all.push_back({Kind::bad, "Slurm does not answer (sinfo)", "is slurmctld up, and SLURM_CONF right?"});
    return;
  }
  for (const auto& [name, lab] : c.labs) {
    const std::string wanted = lab.slurm.partition;
    auto p = std::find_if(known->begin(), known->end(),
                          [&](const Partition& q) { return wanted.empty() || q.name == wanted; });
    if (p == known->end()) {
      std::vector<std::string> names;
      for (const Partition& q : *known) names.push_back(q.name);
      all.push_back({Kind::bad, fmt::format("{}: there is no partition {}", name, wanted),
                     fmt::format("there are: {}", fmt::join(names, ", "))});
      continue;
    }
    if (const std::string& apart = lab.build.partition;
        !apart.empty() &&
        std::none_of(known->begin(), known->end(), [&](const Partition& q) { return q.name == apart; }))
      all.push_back({Kind::bad, fmt::format("{}: [build] names a partition {} that is not there", name, apart),
                     "sinfo lists them"});
    if (p->up.empty())
      all.push_back(
          {Kind::bad, fmt::format("{}: no node of partition {} takes jobs", name, p->name), "sinfo -R says why"});
    const double wants = std::max(1, c.per_job) * (lab.limit_s + 2) / 60.0 + 3;
    if (wants > limit_minutes(p->time_limit))
      all.push_back({Kind::bad,
                     fmt::format("{}: a job asks for {:.0f} minutes, partition {} allows {}", name, wants, p->name,
                                 p->time_limit),
                     "lower limit_s or per_job"});
    if (!lab.slurm.gres.empty()) {
      std::string type = lab.slurm.gres;  // "gpu:h100:2" -> "gpu:h100"
      if (auto colon = type.rfind(':');
          colon != std::string::npos && type.find_first_not_of("0123456789", colon + 1) == std::string::npos)
        type.resize(colon);
      const bool has = std::any_of(p->gres.begin(), p->gres.end(),
                                   [&](const std::string& g) { return g.find(type) != std::string::npos; });
      if (!has)
        all.push_back({Kind::bad, fmt::format("{}: partition {} offers no {}", name, p->name, type),
                       p->gres.empty() ? "none of its nodes has GRES" : fmt::format("it offers {}", p->gres.front())});
      if (const std::set<std::string> types = gpu_types(p->gres);
          types.size() > 1 && resources_of(lab.slurm).gpu_type.empty() && lab.slurm.constraint.empty())
        all.push_back({Kind::doubtful,
                       fmt::format("{}: partition {} has GPUs of types {}: points would hang on the node", name,
                                   p->name, fmt::join(types, ", ")),
                       fmt::format("name one: gres = \"gpu:{}:1\", or a constraint", *types.begin())});
    } else if (lab.backend == lab::Backend::cuda) {
      all.push_back(
          {Kind::bad, name + ": the backend is cuda, and no `gres` asks for a GPU", "set gres = \"gpu:1\" in [slurm]"});
    }
    examine_limits(name, c, lab, all);
    all.push_back(
        {Kind::good,
         fmt::format("{}: partition {}, {} of {} nodes take jobs", name, p->name, p->up.size(), p->nodes.size()), ""});
  }
  examine_federation(all);
  std::string why;
  const std::string config = slurm({"scontrol", "show", "config"}, why).value_or("");
  auto value = [&](const char* key) { return configured(config, key); };
  if (value("ProctrackType").find("cgroup") == std::string::npos)
    all.push_back({Kind::doubtful, "jobs are tracked by " + value("ProctrackType") + ": a process can leave its job",
                   "proctrack/cgroup and task/cgroup in slurm.conf; Ridge's own sandbox holds all the same"});
  if (config.find("nohold_on_prolog_fail") == std::string::npos && value("Prolog") != "(null)" &&
      !value("Prolog").empty())
    all.push_back({Kind::doubtful, "a prolog that fails holds the job",
                   "SchedulerParameters=nohold_on_prolog_fail; Ridge gives held jobs up by itself"});
}

}  // namespace ridge::cluster
