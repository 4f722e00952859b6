#include "cluster/src/collect/batches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/intake.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/record.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

constexpr int kMaxArray = 500;
constexpr double kRunSeconds = 60;  // that one run of a submission may take by itself, in mode grade

}  // namespace

void Batches::send(std::int64_t id, const std::string& name, const CourseLab& lab, Phase phase, int tasks) {
  auto text = read_regular(course_.shared / "batches" / name / "plan.json", 64 << 20);
  const json plan = text ? json::parse(*text, nullptr, false) : json();
  if (!plan.is_object())
    throw Error(Exit::environment, "cannot read the plan of " + name + " in the shared folder",
                "check that it is mounted here");
  JobRequest request{name, lab, phase == Phase::build, tasks, course_.at_once, plan.value("minutes", 30)};
  if (const JobLimits& most = limits(lab, phase); most.running > 0)
    request.at_once = request.at_once > 0 ? std::min(request.at_once, most.running) : most.running;
  request.excluded = nodes_.excluded();
  const auto avoided = plan.value("avoided", std::vector<std::string>{});
  request.excluded.insert(request.excluded.end(), avoided.begin(), avoided.end());
  request.batch = course_.shared / "batches" / name;
  request.log = course_.shared / "log" / (name + ".%a.log");
  request.ridge = plan.value("ridge", "");
  Submitted s = executor_.submit(request);
  auto no_node = [&] { return s.kind == Submitted::Kind::refused && !executor_.is_submit_limit(s.message); };
  if (no_node() && !avoided.empty()) {
    book_.note(fmt::format("{}: no other node than {} takes it: {}", name, fmt::join(avoided, ", "), s.message));
    request.excluded = nodes_.excluded();
    s = executor_.submit(request);
  }
  if (no_node() && !request.excluded.empty()) {
    book_.note("no job can start without the excluded nodes; they are tried again: " + s.message);
    nodes_.readmit_all();
    request.excluded.clear();
    s = executor_.submit(request);
  }
  if (s.kind == Submitted::Kind::accepted)
    db_.change("UPDATE batch SET state = 'submitted', job = ? WHERE id = ?", s.job, id);
  if (s.kind != Submitted::Kind::refused) return;
  Transaction all(db_);
  db_.change(
      "UPDATE work SET state = 'waiting' WHERE id IN (SELECT work FROM attempt WHERE batch = ? AND state = 'open')",
      id);
  db_.change("UPDATE attempt SET state = 'cancelled', reason = ?, ended = ? WHERE batch = ? AND state = 'open'",
             s.message, wall_now(), id);
  db_.change("UPDATE batch SET state = 'over' WHERE id = ?", id);
  all.commit();
  // A limit on the number of a user's jobs: smaller jobs, one after the other.
  if (executor_.is_submit_limit(s.message)) {
    const bool others = db_.query("SELECT 1 FROM attempt WHERE state = 'open'").next();
    if (tasks > 1 || others) {
      max_tasks_ = std::max(1, tasks / 2);
      next_ = steady_now() + (tasks > 1 ? 0.5 : 5);
      return;
    }
  }
  throw Error(Exit::environment, executor_.name() + " refuses the jobs: " + s.message,
              fmt::format("correct [{}] in course.toml (`ridge cluster doctor` checks it), then `ridge cluster resume`",
                          lower(executor_.name())));
}

bool Batches::avoids(const std::string& name) const {
  const auto text = read_regular(course_.shared / "batches" / name / "plan.json", 64 << 20);
  const json plan = text ? json::parse(*text, nullptr, false) : json();
  return plan.is_object() && !plan.value("avoided", json::array()).empty();
}

void Batches::make(const CourseLab& lab, const Group& group, const std::vector<Item>& items, int per_job) {
  const bool builds = group.phase == Phase::build;
  const int tasks =
      static_cast<int>((items.size() + static_cast<std::size_t>(per_job) - 1) / static_cast<std::size_t>(per_job));
  const std::string name = prefix_ + new_nonce().substr(0, 10);
  const JobPaths paths = executor_.paths();
  json options = json::array();
  if (course_.is_signed) options.push_back("--official");
  if (course_.require_sandbox) options.push_back("--require-sandbox");
  if (!course_.seeds.empty() && !builds) options.insert(options.end(), {"--seed-file", paths.seeds.string()});
  // An endless kernel ends its task and leaves time for the others.
  const std::size_t parts = std::max<std::size_t>(1, find_lab(lab.name).tasks.size());
  if (const double each = 0.6 * lab.limit_s / static_cast<double>(parts); each < kRunSeconds && !builds)
    options.insert(options.end(), {"--time-limit", fmt::format("{:.1f}", each)});
  if (lab.slurm.nodes > 1 && !builds) options.insert(options.end(), {"--ranks-through", course_.mpi});
  // The job's limit exceeds the submissions' own limits, which apply first.
  const int minutes = (per_job * ((builds ? course_.build_limit_s : lab.limit_s) + 2) + 59) / 60 + 2;
  std::string preflight = course_.preflight;
  if (preflight == "gpu")
    preflight = fmt::format("exec '{}' cluster preflight --require --keep '{}'{}", paths.ridge.string(),
                            (course_.shared / "preflight").string(),
                            course_.reference.empty() ? "" : " --reference '" + course_.reference.string() + "'");
  json plan = {{"name", name},
               {"lab", lab.name},
               {"backend", lab.backend},
               {"phase", builds ? "build" : "judge"},
               {"arch", course_.build_arch},
               {"limit_s", builds ? course_.build_limit_s : lab.limit_s},
               {"minutes", minutes},
               {"program", paths.program.string()},
               {"ridge", paths.ridge.string()},
               {"options", options},
               {"signing_key", course_.is_signed ? paths.signing_key.string() : ""},
               {"preflight", builds ? "" : preflight},
               {"container", course_.container},
               {"shared", course_.shared.string()},
               {"avoided", group.avoided},
               {"tasks", json::array()}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % static_cast<std::size_t>(per_job) == 0) plan["tasks"].push_back(json::array());
    plan["tasks"].back().push_back(
        {{"token", items[i].token},
         {"submission", content_dir(course_, lab.name, items[i].content).string()},
         {"built", items[i].built.empty() ? "" : built_dir(course_.shared, items[i].built).string()}});
  }
  make_folders(course_.shared / "batches" / name);
  publish(course_.shared / "batches" / name / "plan.json", plan.dump(1) + "\n");
  sync_folder(course_.shared / "batches");
  std::int64_t id = 0;
  {
    Transaction all(db_);
    db_.change("INSERT INTO batch(name, lab, state, tasks, made, phase) VALUES(?, ?, 'submitting', ?, ?, ?)", name,
               lab.name, tasks, wall_now(), builds ? "build" : "judge");
    id = db_.last_id();
    for (std::size_t i = 0; i < items.size(); ++i) {
      db_.change(
          "INSERT INTO attempt(token, work, number, state, batch, task, made) SELECT ?1, ?2, "
          "1 + COALESCE((SELECT MAX(number) FROM attempt WHERE work = ?2), 0), 'open', ?3, ?4, ?5",
          items[i].token, items[i].work, id, static_cast<int>(i) / per_job, wall_now());
      db_.change("UPDATE work SET state = 'running' WHERE id = ?", items[i].work);
    }
    all.commit();
  }
  send(id, name, lab, group.phase, tasks);
}

const JobLimits& Batches::limits(const CourseLab& lab, Phase phase) {
  const auto key = std::pair(lab.name, phase);
  auto at = limits_.find(key);
  if (at == limits_.end()) at = limits_.emplace(key, executor_.limits(lab, phase == Phase::build)).first;
  return at->second;
}

int Batches::room(const JobLimits& l) {
  if (l.submitted_by.empty() && l.running_by.empty()) return max_tasks_;
  Rows rows = db_.query("SELECT count(*) FROM (SELECT DISTINCT batch, task FROM attempt WHERE state = 'open')");
  const int open = rows.next() ? static_cast<int>(rows.integer(0)) : 0;
  int tasks = max_tasks_;
  if (!l.submitted_by.empty()) tasks = std::min(tasks, l.submitted - open);
  // A second batch has what the first one leaves of the tasks at a time: each array counts its own alone.
  if (!l.running_by.empty() && open > 0) tasks = std::min(tasks, l.running - open);
  return open == 0 ? std::max(1, tasks) : tasks;  // a limit of nothing is Slurm's to tell
}

int Batches::items_per_job(const CourseLab& lab, Phase phase, std::size_t items, std::size_t nodes) {
  if (course_.per_job != 0) return course_.per_job;
  const bool builds = phase == Phase::build;
  nodes = std::max<std::size_t>(1, nodes);
  const JobLimits& most = limits(lab, phase);
  if (most.running > 0) nodes = std::min(nodes, static_cast<std::size_t>(most.running));
  const int seconds = builds ? course_.build_limit_s : lab.limit_s;
  const auto half_an_hour = static_cast<std::size_t>(std::max(1, 1800 / seconds));
  std::size_t wanted = items / (16 * nodes);
  if (const auto tasks = static_cast<std::size_t>(std::max(0, most.submitted)); tasks > 0)
    wanted = std::max(wanted, (items + tasks - 1) / tasks);  // all of them in one batch
  return static_cast<int>(std::clamp<std::size_t>(wanted, 1, std::min<std::size_t>(20, half_an_hour)));
}

void Batches::submit_waiting() {
  const double now = steady_now();
  if (now < next_) return;
  next_ = now + 1;
  nodes_.readmit();
  if (max_tasks_ == 0) max_tasks_ = std::min(kMaxArray, executor_.most_tasks());
  std::map<std::pair<std::string, Phase>, std::vector<std::string>> nodes;
  std::map<Group, std::vector<Item>> waiting;
  for (Rows r = db_.query("SELECT id, lab, content, built FROM work WHERE state = 'waiting' ORDER BY id"); r.next();) {
    if (!attempts_.may_start(r.integer(0), now)) continue;
    const CourseLab lab = course_.lab(r.text(1));
    const bool builds = r.text(3).empty() && lab.builds_apart;
    const Phase phase = builds ? Phase::build : Phase::judge;
    auto usable = nodes.find({lab.name, phase});
    if (usable == nodes.end()) usable = nodes.emplace(std::pair(lab.name, phase), executor_.nodes(lab, builds)).first;
    const int needs = std::max(1, builds ? lab.build.nodes : lab.slurm.nodes);
    waiting[{lab.name, phase, nodes_.avoided(r.integer(0), usable->second, static_cast<std::size_t>(needs))}].push_back(
        {r.integer(0), r.text(2), new_nonce(), r.text(3)});
  }
  for (const auto& [group, items] : waiting) {
    const CourseLab lab = course_.lab(group.lab);
    const std::size_t others = nodes[{group.lab, group.phase}].size() - group.avoided.size();
    const int per_job = items_per_job(lab, group.phase, items.size(), others);
    for (std::size_t at = 0; at < items.size();) {
      const int tasks = room(limits(lab, group.phase));
      if (tasks <= 0) break;  // the rest follows when some have ended
      const std::size_t end = std::min(items.size(), at + static_cast<std::size_t>(per_job * tasks));
      make(lab, group,
           {items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(end)},
           per_job);
      at = end;
      if (next_ > now + 1) return;  // the executor takes no more jobs now
    }
  }
}

}  // namespace ridge::cluster
