// Follows the jobs that the executor has, and gives up attempts without a sign of life.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/src/collect/batches.hpp"
#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

class JobWatch {
 public:
  JobWatch(Gradebook& book, Executor& executor, Attempts& attempts, Nodes& nodes, Batches& batches)
      : book_(book),
        executor_(executor),
        db_(book.db()),
        course_(book.course()),
        prefix_(book.jobs_prefix()),
        attempts_(attempts),
        nodes_(nodes),
        batches_(batches) {}

  void look();
  bool controller_away() const { return controller_away_; }
  std::string no_answer() const;
  // The executor's reason for waiting, unless it is only the queue's order.
  const std::string& waits_for() const { return waits_for_; }

 private:
  struct Life {  // the signs of life of a batch's task, in steady_now() seconds; 0: never
    std::string beat, node, run;
    double changed = 0, running = 0, gone = 0, stuck = 0;
  };
  struct Batch {
    std::int64_t id;
    std::string name, state, lab;
    int tasks;
    Phase phase;
    std::set<int> open;  // tasks
  };
  enum class Blame { nobody, node, node_at_once };
  using TasksInQueue = std::map<int, QueuedTask>;

  std::vector<Batch> open_batches();
  // Whether its job is known; where it is not, the batch is sent again.
  bool has_job(const Batch& batch, const TasksInQueue& queued);
  void look_at(const Batch& batch, int task, const QueuedTask* queued, const EndedTasks& ended);
  void wait_for(const Batch& batch, int task, const QueuedTask& queued, Life& life);
  void note(const Disruption& disruption);
  void require_shared_folder();
  void give_up(const std::string& batch, std::int64_t id, int task, const Failure& failure, const Life& life,
               const std::string& job, Blame blame);

  Gradebook& book_;
  Executor& executor_;
  Database& db_;
  const Course& course_;
  std::string prefix_;
  Attempts& attempts_;
  Nodes& nodes_;
  Batches& batches_;
  std::map<std::pair<std::string, int>, Life> lives_;
  std::string waits_for_;
  double next_room_ = 0;
  bool controller_away_ = false;
  std::string why_away_;
  std::set<std::string> disrupted_;  // those that are noted
};

}  // namespace ridge::cluster
