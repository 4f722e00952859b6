// The collector submits waiting work to Slurm, moves published results into the gradebook, and gives up attempts
// without a heartbeat. Its state is in the gradebook and the shared folder, so that it can end at any moment and the
// next collector continues.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "cluster/src/slurm/slurm.hpp"

namespace ridge::cluster {

class Collector {
 public:
  explicit Collector(Gradebook& book);

  // One round: collects results, watches the queue, and submits waiting work. It does not wait for jobs.
  void step();
  // Runs rounds until no work is open, with progress on stderr.
  void run();
  int collect();  // returns the number of collected files

 private:
  struct Item {
    std::int64_t work;
    std::string content, token, built;
  };
  // The phase of a batch. A judging batch builds too, unless the lab builds on other nodes.
  enum class Phase { judge, build };
  struct Life {  // the signs of life of a batch's task, in steady_now() seconds; 0: never
    std::string beat, node, state;
    double changed = 0, running = 0, gone = 0;
  };

  bool take(const fs::path& file, const std::string& token);
  void take_record(const std::string& token, std::int64_t work, bool open, const std::string& record, double seconds);
  // final: no further attempt would help. counts: it is one of the work's `retries`.
  struct Failure {
    std::string state, reason;
    bool final = false, counts = true;
  };
  void failed(const std::string& token, const Failure& failure);
  void node_failed(const std::string& node, const std::string& reason, bool at_once);
  void require_shared_folder();
  void watch();
  enum class Blame { nobody, node, node_at_once };
  void give_up(const std::string& batch, std::int64_t id, int task, const Failure& failure, const Life& life,
               const std::string& job, Blame blame);
  static Failure how_it_ended(const EndedTasks& ended, const std::string& batch, int task, const std::string& node);
  void readmit_nodes();
  void submit_waiting();
  void make_batch(const CourseLab& lab, Phase phase, const std::vector<Item>& items, int per_job);
  void send(std::int64_t id, const std::string& name, const CourseLab& lab, Phase phase, int tasks);
  void show_progress(bool last);
  std::vector<std::string> excluded();

  Gradebook& book_;
  Database& db_;
  const Course& course_;
  std::string prefix_;
  std::map<std::pair<std::string, int>, Life> lives_;
  std::map<std::int64_t, double> not_before_;  // the earliest steady_now() of a work's next attempt
  double next_watch_ = 0, next_submit_ = 0, next_progress_ = 0, next_room_ = 0, started_ = 0;
  std::vector<std::string> judged_;  // builds to be removed once the collected results are committed
  int graded_at_start_ = 0, position_ = -1;
  bool controller_away_ = false;
  std::map<std::string, double> out_since_;  // excluded nodes, in steady_now() seconds
  int max_tasks_ = 0;                        // of one array, as Slurm allows; 0: not asked yet
  std::string waits_for_;                    // Slurm's reason for waiting, unless it is only the queue's order
};

// Prints the mean, the submissions that were not graded with the reasons, and the excluded nodes.
void print_summary(Gradebook& book, const std::string& lab);

}  // namespace ridge::cluster
