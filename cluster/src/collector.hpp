// The collector: gets waiting work into Slurm's queue, takes what jobs published into the gradebook, and gives up
// attempts that are not heard of. All it knows is in the gradebook and the shared folder, so it can end at any moment,
// and the next one goes on.
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

  // One round of everything. `detached`: only takes in and submits, waits for nothing.
  void step();
  // Until no work is open. Progress on stderr.
  void run();
  int collect();  // files taken

 private:
  struct Item {
    std::int64_t work;
    std::string content, token, built;
  };
  // What a batch's tasks do: all of it, or only one side where building is apart.
  enum class Phase { judge, build };
  struct Life {  // of a task of a batch, by the steady clock
    std::string beat, node, state;
    double changed = 0, running = 0, gone = 0;
  };

  bool take(const fs::path& file, const std::string& token);
  void take_record(const std::string& token, std::int64_t work, bool open, const std::string& record, double seconds);
  void failed(const std::string& token, const std::string& state, const std::string& reason);
  void node_failed(const std::string& node, const std::string& reason, bool at_once);
  void require_shared_folder();
  void watch();
  void give_up(const std::string& batch, std::int64_t id, int task, const std::string& state, const std::string& why,
               const Life& life, const std::string& job, bool node_is_bad);
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
  std::map<std::int64_t, double> not_before_;  // work -> steady time of its next attempt
  double next_watch_ = 0, next_submit_ = 0, next_progress_ = 0, next_room_ = 0, started_ = 0;
  std::vector<std::string> judged_;  // builds that are of no more use, once what was taken is committed
  int graded_at_start_ = 0, position_ = -1;
  bool controller_away_ = false;
  std::string waits_for_;  // Slurm's reason, where it is not that others come first
};

// What a person should know at the end: what was not graded and why, nodes that were left out.
void print_summary(Gradebook& book, const std::string& lab);

}  // namespace ridge::cluster
