#include "cluster/src/collector.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/intake/intake.hpp"
#include "cluster/src/slurm/array_task.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "grader/result/result.hpp"
#include "grader/result/verify.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

constexpr int kNodeFailures = 3;       // failures on a node before it is excluded
constexpr double kSilentSeconds = 60;  // after which a node that was silent is asked for
constexpr const char* kSilent = "no sign of life from";
constexpr double kGoneSeconds = 3;  // the delay with which a job's last file appears here
constexpr int kMaxArray = 500;
constexpr double kRunSeconds = 60;  // that one run of a submission may take by itself, in mode grade
constexpr std::size_t kMaxAttempt = 48 << 20;

// The reason why a record does not count for this work; empty where it counts.
std::string wrong_with(const std::string& text, const Course& course, const std::string& lab,
                       const std::string& content, const std::string& backend, Result& r) {
  json record;
  try {
    record = parse_json(text);
    r = read_result(record);
  } catch (const Error& e) {
    return fmt::format("the record is {}", e.what());
  }
  if (course.is_signed) {
    VerifyOptions o;
    for (const std::string& key : course.keys) o.keys.push_back(public_key(key));
    if (Verified v = verify_record(text, o); !v.problem.empty()) return "the record does not verify: " + v.problem;
    if (r.standing != Standing::official) return "the record is not an official one";
  }
  if (text_at(record, "schema") != "ridge.result/1") return "the record is not a ridge.result/1";
  if (r.lab != lab) return "the record is about another lab";
  if (text_at(record, "backend") != backend) return "the record is about another backend";
  if (r.outcome != Outcome::passed && r.outcome != Outcome::failed && r.outcome != Outcome::build_failed)
    return "the record has no outcome";
  if (!(r.points >= 0 && r.points <= r.max && std::isfinite(r.max))) return "the record's points make no sense";
  if (const auto files = record.find("submission"); files == record.end() || text_at(*files, "sha256") != content)
    return "the record is about other files";
  return "";
}

std::string first_words(const std::string& text, std::size_t n = 200) { return capped(printable(text), n); }

// Slurm took the node for other jobs, which is nobody's failure.
bool preempted(const EndedTasks& ended, const std::string& batch, int task) {
  const auto at = ended.find({batch, task});
  return at != ended.end() && at->second == "PREEMPTED";
}

}  // namespace

Collector::Collector(Gradebook& book)
    : book_(book), db_(book.db()), course_(book.course()), prefix_(book.jobs_prefix()), started_(steady_now()) {
  for (const char* dir : {"spool", "taken", "rejected", "beat", "batches", "fenced", "log", "contents", "built"})
    make_folders(course_.shared / dir);
  book_.claim_shared();
  graded_at_start_ = book_.counts("").graded;
}

std::vector<std::string> Collector::excluded() {
  std::vector<std::string> all;
  for (Rows r = db_.query("SELECT name FROM node WHERE excluded = 1 ORDER BY name"); r.next();)
    all.push_back(r.text(0));
  return all;
}

void Collector::node_failed(const std::string& node, const std::string& reason, bool at_once) {
  if (node.empty() || node.find_first_of(" ,[") != std::string::npos) return;
  db_.change(
      "INSERT INTO node VALUES(?1, 1, ?2, ?3) ON CONFLICT(name) DO UPDATE SET failures = failures + 1, reason = ?3, "
      "excluded = MAX(excluded, ?2, failures + 1 >= ?4)",
      node, at_once, reason, kNodeFailures);
}

// Ends an attempt without a result. Its work waits for another attempt or is given up.
void Collector::failed(const std::string& token, const Failure& f) {
  if (db_.change("UPDATE attempt SET state = ?, reason = ?, ended = ? WHERE token = ? AND state = 'open'", f.state,
                 f.reason, wall_now(), token) == 0)
    return;
  Rows r = db_.query("SELECT work FROM attempt WHERE token = ?", token);
  if (!r.next()) return;
  const std::int64_t work = r.integer(0);
  db_.change(
      "UPDATE work SET failures = failures + ?4, reason = ?1, state = CASE WHEN ?5 OR (?4 AND failures + 1 > ?2) THEN "
      "'not-graded' ELSE 'waiting' END WHERE id = ?3 AND state = 'running'",
      f.reason, course_.retries, work, f.counts, f.final);
  Rows w = db_.query("SELECT failures FROM work WHERE id = ?", work);
  if (w.next()) not_before_[work] = steady_now() + std::min(30.0, std::pow(2.0, static_cast<double>(w.integer(0)) - 1));
}

void Collector::take_record(const std::string& token, std::int64_t work, bool open, const std::string& record,
                            double seconds) {
  Rows w = db_.query("SELECT lab, content, backend FROM work WHERE id = ?", work);
  w.next();
  Result r;
  std::string wrong = wrong_with(record, course_, w.text(0), w.text(1), w.text(2), r);
  if (wrong.empty() && !r.nonce.empty()) {
    Rows copy = db_.query("SELECT token FROM result WHERE nonce = ? AND token <> ?", r.nonce, token);
    if (copy.next()) wrong = "the record is a copy of another attempt's";
  }
  if (!wrong.empty()) {
    book_.note(fmt::format("attempt {}: {}", token, wrong));
    failed(token, {"failed", wrong});
    return;
  }
  // One result of a work counts, that of the open attempt. Others are only kept.
  const bool taken = db_.query("SELECT 1 FROM result WHERE work = ? AND counts = 1", work).next();
  const bool counts = open && !taken;
  db_.change("INSERT INTO result VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", token, work, counts, r.outcome, r.points,
             r.max, r.coverage, seconds, r.nonce, record, wall_now());
  if (counts) {
    db_.change("UPDATE attempt SET state = 'graded', ended = ? WHERE token = ?", wall_now(), token);
    db_.change("UPDATE work SET state = 'graded', reason = '' WHERE id = ?", work);
    if (Rows b = db_.query("SELECT built FROM work WHERE id = ? AND built <> ''", work); b.next())
      judged_.push_back(b.text(0));
  } else {
    book_.note(fmt::format("attempt {}: its result came when the attempt had been given up; kept, not counted", token));
  }
}

// Takes one published file into the gradebook, inside a transaction. False: the file is not a valid result.
bool Collector::take(const fs::path& file, const std::string& token) {
  auto text = read_regular(file, kMaxAttempt);
  const json a = text ? json::parse(*text, nullptr, false) : json();
  Rows r = db_.query("SELECT work, state FROM attempt WHERE token = ?", token);
  if (!r.next()) return false;
  const std::int64_t work = r.integer(0);
  const bool open = r.text(1) == "open";
  if (db_.query("SELECT 1 FROM result WHERE token = ?", token).next())
    return true;  // a collector took it before it crashed
  if (text_at(a, "schema") != "ridge.attempt/1" || text_at(a, "token") != token) {
    failed(token, {"failed", "what it published can't be read"});
    return false;
  }
  const std::string node = first_words(text_at(a, "node"), 100), reason = first_words(text_at(a, "reason"), 600);
  db_.change("UPDATE attempt SET node = ? WHERE token = ?", node, token);
  if (text_at(a, "kind") == "graded") {
    db_.change("UPDATE node SET failures = 0 WHERE name = ? AND excluded = 0", node);
    take_record(token, work, open, text_at(a, "record"), number_at(a, "seconds"));
  } else if (text_at(a, "kind") == "built") {
    if (db_.change("UPDATE attempt SET state = 'built', ended = ? WHERE token = ? AND state = 'open'", wall_now(),
                   token) != 0)
      db_.change("UPDATE work SET built = ?, state = 'waiting' WHERE id = ? AND state = 'running'", token, work);
    else if (!db_.query("SELECT 1 FROM work WHERE built = ?", token).next())
      judged_.push_back(token);  // another attempt replaced this one
  } else if (open) {
    const bool sick = flag_at(a, "sick"), hung = flag_at(a, "hung"), usage = flag_at(a, "usage");
    const bool hung_before =
        hung && db_.query("SELECT 1 FROM attempt WHERE work = ? AND state = 'failed' AND reason LIKE ?", work,
                          std::string(kHung) + "%")
                    .next();
    // A usage error is the submission's or the course's: no other node says anything else.
    failed(token, {"failed", fmt::format("{} (on {})", reason, node), usage || hung_before});
    db_.change("UPDATE work SET built = '' WHERE id = ?", work);  // the build may be the cause, so it is repeated
    if (!hung && !usage) node_failed(node, reason, sick);
  }
  return true;
}

int Collector::collect() {
  std::vector<std::string> tokens;
  std::error_code ec;
  for (fs::directory_iterator it(course_.shared / "spool", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (name[0] != '.' && it->path().extension() == ".json") tokens.push_back(it->path().stem().string());
  }
  if (tokens.empty()) return 0;
  std::sort(tokens.begin(), tokens.end());
  std::vector<std::string> bad;
  {
    Transaction all(db_);
    for (const std::string& token : tokens)
      if (!take(spool_file(course_.shared, token), token)) bad.push_back(token);
    all.commit();
  }
  // Files leave spool/ after the commit. A file that stays is taken again by the next collector, without effect.
  for (const std::string& token : tokens) {
    const bool is_bad = std::find(bad.begin(), bad.end(), token) != bad.end();
    fs::rename(spool_file(course_.shared, token),
               is_bad ? course_.shared / "rejected" / (token + ".json") : taken_file(course_.shared, token), ec);
    if (ec)
      throw Error(Exit::environment,
                  fmt::format("cannot move {}: {}", shown(spool_file(course_.shared, token)), ec.message()),
                  "check that this account may write in the shared folder");
  }
  for (const std::string& built : judged_) fs::remove_all(built_dir(course_.shared, built), ec);
  judged_.clear();
  return static_cast<int>(tokens.size());
}

// Where the shared folder is full or missing, jobs are silent too, and neither a job nor a node is to blame.
void Collector::require_shared_folder() {
  if (const double now = steady_now(); now >= next_room_) {
    try {
      require_room(course_.shared / "beat");
    } catch (const Error& e) {
      throw Error(
          e.code, e.what(),
          "free some space there (or mount it), then `ridge cluster resume`: jobs keep their results meanwhile");
    }
    next_room_ = now + 1;
  }
}

void Collector::give_up(const std::string& batch, std::int64_t id, int task, const Failure& failure, const Life& life,
                        const std::string& job, Blame blame) {
  require_shared_folder();
  std::vector<std::string> tokens;
  for (Rows r = db_.query("SELECT token FROM attempt WHERE batch = ? AND task = ? AND state = 'open'", id, task);
       r.next();)
    tokens.push_back(r.text(0));
  // A job that is still alive skips the submissions that it lost.
  for (const std::string& token : tokens) publish(course_.shared / "fenced" / token, failure.reason + "\n");
  Transaction all(db_);
  for (const std::string& token : tokens) {
    db_.change("UPDATE attempt SET node = ? WHERE token = ?", life.node, token);
    failed(token, failure);
  }
  if (blame != Blame::nobody) node_failed(life.node, failure.reason, blame == Blame::node_at_once);
  book_.note(fmt::format("{} task {}: {}; {} attempts", batch, task, failure.reason, tokens.size()));
  all.commit();
  if (!job.empty()) cancel_jobs({job});
}

Collector::Failure Collector::how_it_ended(const EndedTasks& ended, const std::string& batch, int task,
                                           const std::string& node) {
  const std::string where = node.empty() ? "" : " on " + node;
  if (preempted(ended, batch, task)) return {"lost", "Slurm preempted its job" + where, false, false};
  return {"lost", "its job ended without a result" + where};
}

// A node that was only silent may have been slow, or it is up again: it comes back once Slurm calls it well. One whose
// preflight failed, or on which attempts failed, is tried again after `readmit_s`; its next failure leaves it out
// again.
void Collector::readmit_nodes() {
  const double now = steady_now();
  std::vector<std::pair<std::string, std::string>> out;
  for (Rows r = db_.query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
    out.emplace_back(r.text(0), r.text(1));
  for (const auto& [name, reason] : out) {
    double& since = out_since_.emplace(name, now).first->second;
    const bool silent = reason.starts_with(kSilent);
    if (now - since < (silent ? std::min<double>(kSilentSeconds, course_.readmit_s) : course_.readmit_s)) continue;
    since = now;
    if (silent && !node_is_well(name)) continue;
    db_.change("UPDATE node SET excluded = 0, failures = ? WHERE name = ?", kNodeFailures - 1, name);
    out_since_.erase(name);
    book_.note(fmt::format("node {} is tried again", name));
  }
}

void Collector::watch() {
  EndedTasks ended;
  auto jobs = queue(prefix_, &ended);
  controller_away_ = !jobs;
  if (!jobs) return;  // without an answer nothing is known about any job
  waits_for_.clear();
  for (const auto& [name, t] : *jobs) {
    static const std::set<std::string> usual = {"", "None", "Resources", "Priority", "JobArrayTaskLimit", "BeginTime"};
    if (t.state == "PENDING" && usual.count(t.reason) == 0) waits_for_ = first_words(t.reason);
  }
  const double now = steady_now();
  struct Batch {
    std::int64_t id;
    std::string name, state, lab;
    int tasks;
    Phase phase;
    std::set<int> open;
  };
  std::vector<Batch> batches;
  for (Rows r = db_.query("SELECT b.id, b.name, b.state, b.lab, b.tasks, a.task, b.phase FROM attempt a JOIN batch b "
                          "ON b.id = a.batch "
                          "WHERE a.state = 'open' GROUP BY b.id, a.task ORDER BY b.id");
       r.next();) {
    if (batches.empty() || batches.back().id != r.integer(0))
      batches.push_back({r.integer(0),
                         r.text(1),
                         r.text(2),
                         r.text(3),
                         static_cast<int>(r.integer(4)),
                         r.text(6) == "build" ? Phase::build : Phase::judge,
                         {}});
    batches.back().open.insert(static_cast<int>(r.integer(5)));
  }
  for (const Batch& b : batches) {
    std::map<int, QueuedTask> here;
    for (auto [at, end] = jobs->equal_range(b.name); at != end; ++at) here[at->second.task] = at->second;
    if (b.state == "submitting") {  // sbatch's reply was lost, or a collector ended before it: look for the job
      if (!here.empty()) {
        const std::string& job = here.begin()->second.job;
        db_.change("UPDATE batch SET state = 'submitted', job = ? WHERE id = ?", job.substr(0, job.find('_')), b.id);
      } else {
        bool heard = false;
        for (int task : b.open) heard = heard || fs::exists(beat_file(course_.shared, b.name, task));
        if (!heard) {
          send(b.id, b.name, course_.lab(b.lab), b.phase, b.tasks);
          continue;
        }
      }
    }
    for (int task : b.open) {
      Life& life = lives_[{b.name, task}];
      if (auto beat = read_regular(beat_file(course_.shared, b.name, task), 4096); beat && *beat != life.beat) {
        life.beat = *beat, life.changed = now;
        if (auto end = beat->find(' '); end != std::string::npos) life.node = first_words(beat->substr(0, end), 100);
      }
      auto at = here.find(task);
      if (at != here.end() && !at->second.node.empty() && at->second.node != "n/a") life.node = at->second.node;
      const double silent = now - std::max(life.changed, life.running);
      if (at == here.end()) {
        if (life.gone == 0) life.gone = now;
        const double wait = life.beat.empty() ? kGoneSeconds : std::max(kGoneSeconds, 6 - (now - life.changed));
        if (now - life.gone > wait && now - life.changed > 5)
          give_up(b.name, b.id, task, how_it_ended(ended, b.name, task, life.node), life, "",
                  preempted(ended, b.name, task) ? Blame::nobody : Blame::node);
        continue;
      }
      life.gone = 0;
      const QueuedTask& t = at->second;
      if (t.state == "PENDING") {
        life.running = 0;
        std::string why = t.reason;
        std::transform(why.begin(), why.end(), why.begin(), [](unsigned char c) { return std::tolower(c); });
        if (why.find("launch") != std::string::npos || why.find("held") != std::string::npos)
          give_up(b.name, b.id, task, {"lost", "Slurm holds its job: " + first_words(t.reason)}, life, t.job,
                  Blame::node);
        continue;
      }
      if (t.state == "SUSPENDED") {  // for other jobs that come first: it is silent, and goes on
        life.running = life.changed = now;
        continue;
      }
      if (life.running == 0) life.running = now;
      if (life.beat.empty() ? now - life.running > course_.start_s : silent > course_.heartbeat_s)
        give_up(b.name, b.id, task, {"fenced", fmt::format("{} {} for {:.0f} s", kSilent, life.node, silent)}, life,
                t.job, Blame::node_at_once);
    }
  }
  db_.change(
      "UPDATE batch SET state = 'over' WHERE state <> 'over' AND NOT EXISTS "
      "(SELECT 1 FROM attempt WHERE batch = batch.id AND state = 'open')");
}

// Submits a batch to Slurm. Its row says 'submitting' until sbatch's reply arrives.
void Collector::send(std::int64_t id, const std::string& name, const CourseLab& lab, Phase phase, int tasks) {
  const SlurmOptions& options = phase == Phase::build ? lab.build : lab.slurm;
  auto text = read_regular(course_.shared / "batches" / name / "plan.json", 64 << 20);
  const json plan = text ? json::parse(*text, nullptr, false) : json();
  if (!plan.is_object())
    throw Error(Exit::environment, "cannot read the plan of " + name + " in the shared folder",
                "check that it is mounted here");
  const int minutes = plan.value("minutes", 30);
  std::vector<std::string> command = {(root_dir() / "cluster/round.sbatch").string(), plan.value("ridge", ""),
                                      (course_.shared / "batches" / name).string(), course_.setup, course_.scratch};
  const fs::path log = course_.shared / "log" / (name + ".%a.log");
  Submitted s = submit(name, options, tasks, course_.at_once, minutes, excluded(), log, command);
  if (s.kind == Submitted::Kind::refused && !excluded().empty()) {
    book_.note("no job can start without the excluded nodes; they are tried again: " + s.message);
    db_.change("UPDATE node SET excluded = 0, failures = 0");
    s = submit(name, options, tasks, course_.at_once, minutes, {}, log, command);
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
  // A limit on the number of a user's jobs: smaller arrays, one after the other.
  if (is_submit_limit(s.message)) {
    const bool others = db_.query("SELECT 1 FROM attempt WHERE state = 'open'").next();
    if (tasks > 1 || others) {
      max_tasks_ = std::max(1, tasks / 2);
      next_submit_ = steady_now() + (tasks > 1 ? 0.5 : 5);
      return;
    }
  }
  throw Error(Exit::environment, "Slurm refuses the jobs: " + s.message,
              "correct [slurm] in course.toml (`ridge cluster doctor` checks it), then `ridge cluster resume`");
}

void Collector::make_batch(const CourseLab& lab, Phase phase, const std::vector<Item>& items, int per_job) {
  const bool builds = phase == Phase::build;
  const int tasks =
      static_cast<int>((items.size() + static_cast<std::size_t>(per_job) - 1) / static_cast<std::size_t>(per_job));
  const std::string name = prefix_ + new_nonce().substr(0, 10);
  const fs::path program = course_.program.empty() ? root_dir() / "ridge" : course_.program;
  json options = json::array();
  if (course_.is_signed) options.push_back("--official");
  if (course_.require_sandbox) options.push_back("--require-sandbox");
  if (!course_.seeds.empty() && !builds) options.insert(options.end(), {"--seed-file", course_.seeds.string()});
  // An endless kernel ends its task and leaves time for the others.
  const std::size_t parts = std::max<std::size_t>(1, find_lab(lab.name).tasks.size());
  if (const double each = 0.6 * lab.limit_s / static_cast<double>(parts); each < kRunSeconds && !builds)
    options.insert(options.end(), {"--time-limit", fmt::format("{:.1f}", each)});
  if (lab.slurm.nodes > 1 && !builds) options.insert(options.end(), {"--ranks-through", course_.mpi});
  // Slurm's limit exceeds the submissions' own limits, which apply first.
  const int minutes = (per_job * ((builds ? course_.build_limit_s : lab.limit_s) + 2) + 59) / 60 + 2;
  std::string preflight = course_.preflight;
  if (preflight == "gpu")
    preflight = fmt::format("exec '{}' cluster preflight --require --keep '{}'{}", own_program(),
                            (course_.shared / "preflight").string(),
                            course_.reference.empty() ? "" : " --reference '" + course_.reference.string() + "'");
  json plan = {{"name", name},
               {"lab", lab.name},
               {"backend", lab.backend},
               {"phase", builds ? "build" : "judge"},
               {"arch", course_.build_arch},
               {"limit_s", builds ? course_.build_limit_s : lab.limit_s},
               {"minutes", minutes},
               {"program", program.string()},
               {"ridge", own_program()},
               {"options", options},
               {"signing_key", course_.is_signed ? course_.signing_key.string() : ""},
               {"preflight", builds ? "" : preflight},
               {"container", course_.container},
               {"shared", course_.shared.string()},
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
  send(id, name, lab, phase, tasks);
}

void Collector::submit_waiting() {
  readmit_nodes();
  if (max_tasks_ == 0) max_tasks_ = std::min(kMaxArray, max_array_size());
  std::map<std::pair<std::string, Phase>, std::vector<Item>> waiting;
  const double now = steady_now();
  for (Rows r = db_.query("SELECT id, lab, content, built FROM work WHERE state = 'waiting' ORDER BY id"); r.next();) {
    auto at = not_before_.find(r.integer(0));
    if (at != not_before_.end() && at->second > now) continue;
    const bool builds = r.text(3).empty() && !course_.lab(r.text(1)).build.partition.empty();
    waiting[{r.text(1), builds ? Phase::build : Phase::judge}].push_back(
        {r.integer(0), r.text(2), new_nonce(), r.text(3)});
  }
  for (const auto& [key, items] : waiting) {
    const CourseLab lab = course_.lab(key.first);
    const bool builds = key.second == Phase::build;
    const std::string& partition = builds ? lab.build.partition : lab.slurm.partition;
    int per_job = course_.per_job;
    if (per_job == 0) {
      std::size_t nodes = 1;
      if (auto all = partitions())
        for (const Partition& p : *all)
          if (partition.empty() || p.name == partition) nodes = std::max(nodes, p.nodes.size());
      const std::size_t half_an_hour =
          static_cast<std::size_t>(std::max(1, 1800 / (builds ? course_.build_limit_s : lab.limit_s)));
      per_job = static_cast<int>(
          std::clamp<std::size_t>(items.size() / (16 * nodes), 1, std::min<std::size_t>(20, half_an_hour)));
    }
    for (std::size_t at = 0; at < items.size();) {
      const std::size_t end = std::min(items.size(), at + static_cast<std::size_t>(per_job * max_tasks_));
      make_batch(lab, key.second,
                 {items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(end)},
                 per_job);
      at = end;
      if (next_submit_ > now + 1) return;  // Slurm takes no more jobs now
    }
  }
}

void Collector::step() {
  collect();
  const double now = steady_now();
  if (now >= next_watch_) {
    watch();
    next_watch_ = steady_now() + (controller_away_ ? 2 : 1);
  }
  if (now >= next_submit_ && !controller_away_) {
    next_submit_ = now + 1;
    submit_waiting();
  }
}

void Collector::show_progress(bool last) {
  const double now = steady_now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!last && now < next_progress_) return;
  next_progress_ = now + (terminal ? 1 : 10);
  const Counts c = book_.counts("");
  const int done = c.graded - graded_at_start_;
  std::string text = fmt::format("graded {}, in the queue or running {}, waiting {}", c.graded, c.running, c.waiting);
  if (c.not_graded > 0) text += fmt::format(", not graded {}", c.not_graded);
  if (controller_away_) text += "; Slurm does not answer";
  if (!waits_for_.empty()) text += "; Slurm does not start jobs: " + waits_for_;
  if (c.running > 0 && done == 0) {
    position_ = queue_position("", prefix_);
    if (position_ > 0) text += fmt::format("; {} jobs are before ours", position_);
  }
  if (done > 0 && c.open() > 0) {
    const double left = (now - started_) / done * c.open();
    text +=
        left < 90 ? fmt::format("; about {:.0f} s to go", left) : fmt::format("; about {:.0f} min to go", left / 60);
  }
  tell("{}{}{}", terminal ? "\r\033[K" : "", text, terminal && !last ? "" : "\n");
  std::fflush(stderr);
}

void Collector::run() {
  // each run starts without excluded nodes
  db_.change("DELETE FROM node");
  tell("Ctrl-C leaves the jobs running; `ridge cluster resume` goes on from there.\n");
  for (;;) {
    step();
    if (book_.counts("").open() == 0) break;
    show_progress(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  watch();  // closes the batches
  show_progress(true);
}

void print_summary(Gradebook& book, const std::string& lab) {
  int students = 0, graded = 0, nothing = 0;
  double sum = 0;
  std::vector<std::string> open;
  for (const Grade& g : book.grades(lab)) {
    ++students;
    if (g.percent)
      ++graded, sum += *g.percent;
    else if (g.content.empty() && g.problem.empty())
      ++nothing;
    else
      open.push_back(fmt::format("  {}: {}", g.student.id,
                                 !g.problem.empty() ? g.problem
                                 : g.reason.empty() ? g.state
                                                    : g.reason));
  }
  fmt::print("{}: {} of {} students graded, mean {:.1f} %; {} handed in nothing\n", lab, graded, students,
             graded > 0 ? sum / graded : 0, nothing);
  if (!open.empty())
    fmt::print("Not graded (never a zero; `ridge cluster grade` tries again):\n{}\n", fmt::join(open, "\n"));
  for (Rows r = book.db().query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
    fmt::print("Left out: node {} ({})\n", r.text(0), r.text(1));
}

}  // namespace ridge::cluster
