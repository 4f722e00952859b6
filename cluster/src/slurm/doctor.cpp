#include "cluster/src/slurm/doctor.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/course_keys.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/database.hpp"
#include "cluster/src/slurm/slurm.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/sandbox.hpp"

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

void examine_files(const Course& c, std::vector<Finding>& all) {
  struct stat s {};
  if (!c.is_signed) {
    all.push_back({Kind::doubtful, "results are not signed", "for official grades: signing_key and keys in [grading]"});
  } else {
    if (stat(c.signing_key.c_str(), &s) != 0 || (s.st_mode & 077) != 0)
      all.push_back({Kind::bad, "signing_key: " + shown(c.signing_key) + " is missing, or others can read it",
                     "`ridge key new FILE` makes one; chmod 600 FILE hides it from others"});
    else if (const auto wrong = wrong_keys(c))
      all.push_back({Kind::bad, wrong->what(), wrong->advice});
    else
      all.push_back({Kind::good, "signing key " + shown(c.signing_key) + ", and its public half in `keys`", ""});
  }
  if (!c.seeds.empty() && (stat(c.seeds.c_str(), &s) != 0 || (s.st_mode & 077) != 0))
    all.push_back({Kind::bad, "seeds: " + shown(c.seeds) + " is missing, or others can read it",
                   "head -c 32 /dev/urandom > FILE makes one; chmod 600 FILE hides it from others"});
  if (c.shared.string().find("/tmp") == 0)
    all.push_back(
        {Kind::doubtful, shown(c.shared) + " is below /tmp, which every node has for itself", "name a shared folder"});
  try {
    make_folders(c.shared);
    chmod(c.shared.c_str(), 0700);
    Database db(c.gradebook);
    all.push_back({Kind::good, "gradebook " + shown(c.gradebook) + " on a local disk", ""});
  } catch (const Error& e) {
    all.push_back({Kind::bad, e.what(), e.advice});
  }
}

// The folders that `ridge submit` writes to: students may write and not list, and the instructor reads.
void examine_dropbox(const Course& c, std::vector<Finding>& all) {
  if (c.dropbox.empty()) return;
  const std::string make = "install -d -m 3733 ";
  std::size_t good = 0;
  for (const auto& [name, lab] : c.labs) {
    const fs::path dir = c.dropbox / name;
    struct stat s {};
    if (stat(dir.c_str(), &s) != 0 || !S_ISDIR(s.st_mode))
      all.push_back({Kind::bad, fmt::format("dropbox: there is no folder {}", shown(dir)), make + shown(dir)});
    else if ((s.st_mode & 03) != 03)
      all.push_back({Kind::bad, fmt::format("dropbox: students can't write into {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if ((s.st_mode & S_IROTH) != 0)
      all.push_back({Kind::bad, fmt::format("dropbox: everybody can list {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if ((s.st_mode & S_ISVTX) == 0)
      all.push_back({Kind::bad, fmt::format("dropbox: students can remove what others put into {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if (access(dir.c_str(), R_OK | X_OK) != 0)
      all.push_back({Kind::bad, fmt::format("dropbox: this account can't read {}", shown(dir)),
                     "its owner is to be the account that grades"});
    else
      ++good;
  }
  if (good == c.labs.size())
    all.push_back({Kind::good, fmt::format("dropbox {}: a folder for each lab", shown(c.dropbox)), ""});
}

void examine_slurm(const Course& c, std::vector<Finding>& all) {
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
    if (p->up == 0)
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
    } else if (lab.backend == lab::Backend::cuda) {
      all.push_back(
          {Kind::bad, name + ": the backend is cuda, and no `gres` asks for a GPU", "set gres = \"gpu:1\" in [slurm]"});
    }
    all.push_back({Kind::good,
                   fmt::format("{}: partition {}, {} of {} nodes take jobs", name, p->name, p->up, p->nodes.size()),
                   ""});
  }
  std::string why;
  const std::string config = slurm({"scontrol", "show", "config"}, why).value_or("");
  auto value = [&](const std::string& key) {
    const auto at = config.find("\n" + key);
    if (at == std::string::npos) return std::string();
    const std::string line = config.substr(at + 1, config.find('\n', at + 1) - at - 1);
    const auto equals = line.find("= ");
    return equals == std::string::npos ? std::string() : line.substr(equals + 2);
  };
  if (value("ProctrackType").find("cgroup") == std::string::npos)
    all.push_back({Kind::doubtful, "jobs are tracked by " + value("ProctrackType") + ": a process can leave its job",
                   "proctrack/cgroup and task/cgroup in slurm.conf; Ridge's own sandbox holds all the same"});
  if (config.find("nohold_on_prolog_fail") == std::string::npos && value("Prolog") != "(null)" &&
      !value("Prolog").empty())
    all.push_back({Kind::doubtful, "a prolog that fails holds the job",
                   "SchedulerParameters=nohold_on_prolog_fail; Ridge gives held jobs up by itself"});
}

// Runs one small job on a node, and compares what the node sees with this machine.
void examine_nodes(const Course& c, std::vector<Finding>& all) {
  const fs::path dir = c.shared / "doctor" / new_nonce();
  make_folders(dir);
  const std::string word = new_nonce();
  publish(dir / "word", word);
  const CourseLab lab = c.labs.empty() ? CourseLab{} : c.labs.begin()->second;
  const std::string ridge = own_program();
  Submitted s = submit("ridge-doctor", lab.slurm, 1, 0, 2, {}, dir / "log",
                       {(root_dir() / "cluster/round.sbatch").string(), ridge, dir.string(), c.setup, c.scratch});
  if (s.kind != Submitted::Kind::accepted) {
    all.push_back({Kind::bad, "Slurm does not take a job: " + s.message, "correct [slurm] in course.toml"});
    return;
  }
  const double end = steady_now() + 60;
  std::optional<std::string> answer;
  while (!(answer = read_regular(dir / "answer", 1 << 20)) && steady_now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (!answer) {
    cancel_jobs({s.job});
    all.push_back(
        {Kind::bad, "a small job did not answer within a minute", "see " + shown(dir / "log") + " and squeue"});
    return;
  }
  std::istringstream in(*answer);
  std::string node, clock, heard, line;
  std::getline(in, node), std::getline(in, clock), std::getline(in, heard);
  if (heard != word)
    all.push_back({Kind::bad, shown(c.shared) + " is not the same folder on node " + node,
                   "`shared` must name one that all nodes mount"});
  else
    all.push_back({Kind::good, "node " + node + " sees the shared folder and this ridge", ""});
  if (const long apart = std::labs(static_cast<long>(std::atoll(clock.c_str()) - wall_now())); apart > 62)
    all.push_back({Kind::doubtful, fmt::format("the clock of {} is {} s off this machine's", node, apart),
                   "deadlines are judged by file dates: run NTP"});
  while (std::getline(in, line))
    all.push_back({c.require_sandbox ? Kind::bad : Kind::doubtful, "node " + node + ": " + line,
                   "`ridge doctor` on that node says what to do"});
  std::error_code ec;
  fs::remove_all(dir, ec);
}

}  // namespace

std::vector<Finding> examine(const Course& course, bool jobs) {
  std::vector<Finding> all;
  examine_files(course, all);
  examine_dropbox(course, all);
  examine_slurm(course, all);
  const bool bad = std::any_of(all.begin(), all.end(), [](const Finding& f) { return f.kind == Kind::bad; });
  if (jobs && !bad) examine_nodes(course, all);
  return all;
}

int probe(const fs::path& batch) {
  std::string text = fmt::format("{}\n{}\n{}\n", environment("SLURMD_NODENAME", "?"), wall_now(),
                                 read_regular(batch / "word", 4096).value_or(""));
  for (const auto& layer : sandbox_report())
    if (layer.required && !layer.on) text += fmt::format("the sandbox lacks {}: {}\n", layer.name, layer.reason);
  publish(batch / "answer", text);
  return 0;
}

}  // namespace ridge::cluster
