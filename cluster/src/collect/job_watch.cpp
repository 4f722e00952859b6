#include "cluster/src/collect/job_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

constexpr double kGoneSeconds = 3;  // the delay with which a job's last file appears here
constexpr double kUnknownSeconds =
    20;  // an executor lists ended jobs for a while: one that it does not list may be an error

std::string first_words(const std::string& text, std::size_t n = 200) { return capped(printable(text), n); }

Failure how_it_ended(const EndedTask* end, const std::string& executor, const std::string& node) {
  const std::string where = node.empty() ? "" : " on " + node;
  if (end != nullptr && end->preempted) return {"lost", executor + " preempted its job" + where, false, false};
  const std::string why = end == nullptr || end->why.empty() ? "" : ": " + first_words(end->why);
  return {"lost", "its job ended without a result" + where + why};
}

}  // namespace

// A full or missing shared folder makes jobs silent, too; then neither a job nor a node is to blame.
void JobWatch::require_shared_folder() {
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

void JobWatch::give_up(const std::string& batch, std::int64_t id, int task, const Failure& failure, const Life& life,
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
    attempts_.failed(token, failure);
  }
  if (blame != Blame::nobody) nodes_.failed(life.node, failure.reason, blame == Blame::node_at_once);
  book_.note(fmt::format("{} task {}: {}; {} attempts", batch, task, failure.reason, tokens.size()));
  all.commit();
  if (!job.empty()) executor_.cancel({job});
}

std::vector<JobWatch::Batch> JobWatch::open_batches() {
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
  return batches;
}

bool JobWatch::has_job(const Batch& b, const TasksInQueue& queued) {
  if (b.state != "submitting") return true;
  if (!queued.empty()) {  // the reply was lost, or a collector ended before it
    const std::string& job = queued.begin()->second.job;
    db_.change("UPDATE batch SET state = 'submitted', job = ? WHERE id = ?", job.substr(0, job.find('_')), b.id);
    return true;
  }
  for (int task : b.open)
    if (fs::exists(beat_file(course_.shared, b.name, task))) return true;
  batches_.send(b.id, b.name, course_.lab(b.lab), b.phase, b.tasks);
  return false;
}

void JobWatch::wait_for(const Batch& b, int task, const QueuedTask& t, Life& life) {
  using Stuck = QueuedTask::Stuck;
  life.running = 0;
  if (t.stuck == Stuck::no || (t.stuck == Stuck::nodes_away && !batches_.avoids(b.name))) {
    life.stuck = 0;
    return;
  }
  if (life.stuck == 0) life.stuck = steady_now();
  if (t.stuck != Stuck::held && steady_now() - life.stuck < course_.start_s) return;
  if (t.stuck == Stuck::held || t.stuck == Stuck::held_for_now)
    return give_up(b.name, b.id, task,
                   {"lost", fmt::format("{} holds its job: {}", executor_.name(), first_words(t.reason))}, life, t.job,
                   Blame::node);
  if (batches_.avoids(b.name)) {
    book_.note(fmt::format("{} task {}: no other node takes it: {}", b.name, task, first_words(t.reason)));
    for (Rows r = db_.query("SELECT work FROM attempt WHERE batch = ? AND task = ? AND state = 'open'", b.id, task);
         r.next();)
      nodes_.avoid_none(r.integer(0));
  } else {
    book_.note("no job can start without the excluded nodes; they are tried again: " + first_words(t.reason));
    nodes_.readmit_all();
  }
  give_up(b.name, b.id, task, {"lost", "no node is left for its job: " + first_words(t.reason), false, false}, life,
          t.job, Blame::nobody);
}

// The executor starts the task again, so no attempt ends.
void JobWatch::note(const Disruption& d) {
  if (!disrupted_.insert(d.id).second) return;
  Transaction all(db_);
  if (d.blames_node) nodes_.failed(d.node, first_words(d.why), false);
  book_.note(
      fmt::format("{} task {}: taken from {}, and started again: {}", d.job, d.task, d.node, first_words(d.why)));
  all.commit();
}

void JobWatch::look_at(const Batch& b, int task, const QueuedTask* queued, const EndedTasks& ended) {
  const double now = steady_now();
  Life& life = lives_[{b.name, task}];
  if (auto beat = read_regular(beat_file(course_.shared, b.name, task), 4096); beat && *beat != life.beat) {
    life.beat = *beat, life.changed = now;
    if (auto end = beat->find(' '); end != std::string::npos) life.node = first_words(beat->substr(0, end), 100);
  }
  if (queued != nullptr && !queued->node.empty()) life.node = queued->node;
  if (queued == nullptr) {
    if (life.gone == 0) life.gone = now;
    const auto end = ended.find({b.name, task});
    const EndedTask* how = end == ended.end() ? nullptr : &end->second;
    double wait = life.beat.empty() ? kGoneSeconds : std::max(kGoneSeconds, 6 - (now - life.changed));
    if (how == nullptr) wait = kUnknownSeconds;
    if (now - life.gone > wait && now - life.changed > 5)
      give_up(b.name, b.id, task, how_it_ended(how, executor_.name(), life.node), life, "",
              how == nullptr || how->preempted ? Blame::nobody : Blame::node);
    return;
  }
  life.gone = 0;
  const QueuedTask& t = *queued;
  if (t.state == QueuedTask::State::waiting) return wait_for(b, task, t, life);
  life.stuck = 0;
  if (t.state == QueuedTask::State::suspended) {  // for other jobs that come first: it is silent, and goes on
    life.running = life.changed = now;
    return;
  }
  if (life.running == 0 || life.run != t.run) life.running = now;
  life.run = t.run;
  const double silent = now - std::max(life.changed, life.running);
  const bool begun = !life.beat.empty() && life.changed >= life.running;  // it has beaten since it was started
  if (silent > (begun ? course_.heartbeat_s : course_.start_s))
    give_up(b.name, b.id, task, {"fenced", fmt::format("{} {} for {:.0f} s", kSilent, life.node, silent)}, life, t.job,
            Blame::node_at_once);
}

std::string JobWatch::no_answer() const {
  return executor_.name() + " does not answer" + (why_away_.empty() ? "" : ": " + first_words(why_away_));
}

void JobWatch::look() {
  why_away_.clear();
  const auto seen = executor_.look(prefix_, why_away_);
  controller_away_ = !seen;
  if (!seen) return;  // without an answer nothing is known about any job
  waits_for_.clear();
  for (const auto& [name, t] : seen->queued)
    if (t.state == QueuedTask::State::waiting && !t.reason.empty()) waits_for_ = first_words(t.reason);
  std::map<std::pair<std::string, int>, std::vector<const Disruption*>> taken;
  for (const Disruption& d : seen->disruptions) {
    note(d);
    if (d.blames_node) taken[{d.job, d.task}].push_back(&d);
  }
  for (const Batch& b : open_batches()) {
    TasksInQueue queued;
    for (auto [at, end] = seen->queued.equal_range(b.name); at != end; ++at) queued[at->second.task] = at->second;
    if (!has_job(b, queued)) continue;
    for (int task : b.open) {
      const auto at = queued.find(task);
      const QueuedTask* in_queue = at == queued.end() ? nullptr : &at->second;
      // A task that every node throws out would be started again for ever.
      if (const auto& all = taken[{b.name, task}]; static_cast<int>(all.size()) > course_.retries)
        give_up(b.name, b.id, task,
                {"lost", fmt::format("taken from its node {} times: {}", all.size(), first_words(all.back()->why))},
                lives_[{b.name, task}], in_queue == nullptr ? "" : in_queue->job, Blame::nobody);
      else
        look_at(b, task, in_queue, seen->ended);
    }
  }
  db_.change(
      "UPDATE batch SET state = 'over' WHERE state <> 'over' AND NOT EXISTS "
      "(SELECT 1 FROM attempt WHERE batch = batch.id AND state = 'open')");
}

}  // namespace ridge::cluster
