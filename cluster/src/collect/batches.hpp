// Sends waiting work to the executor, in batches: a batch is one job with many tasks.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/src/collect/attempts.hpp"
#include "cluster/src/collect/nodes.hpp"

namespace ridge::cluster {

// The phase of a batch. A judging batch builds too, unless the lab builds on other nodes.
enum class Phase { judge, build };

class Batches {
 public:
  Batches(Gradebook& book, Executor& executor, const Attempts& attempts, Nodes& nodes)
      : book_(book),
        executor_(executor),
        db_(book.db()),
        course_(book.course()),
        prefix_(book.jobs_prefix()),
        attempts_(attempts),
        nodes_(nodes) {}

  // Submits the waiting work about once a second at most, and less often while the executor takes no more jobs.
  void submit_waiting();
  // Submits a batch whose row says 'submitting'. JobWatch calls it again where the reply was lost and no job
  // is known.
  void send(std::int64_t id, const std::string& name, const CourseLab& lab, Phase phase, int tasks);
  // Whether the batch keeps from nodes on which its works failed before.
  bool avoids(const std::string& name) const;

 private:
  struct Item {
    std::int64_t work;
    std::string content, token, built;
  };
  // Works that one batch may hold.
  struct Group {
    std::string lab;
    Phase phase;
    std::vector<std::string> avoided;  // nodes
    auto operator<=>(const Group&) const = default;
  };
  void make(const CourseLab& lab, const Group& group, const std::vector<Item>& items, int per_job);
  const JobLimits& limits(const CourseLab& lab, Phase phase);
  // The number of tasks that may be submitted now.
  int room(const JobLimits& limits);
  int items_per_job(const CourseLab& lab, Phase phase, std::size_t items, std::size_t nodes);

  Gradebook& book_;
  Executor& executor_;
  Database& db_;
  const Course& course_;
  std::string prefix_;
  const Attempts& attempts_;
  Nodes& nodes_;
  std::map<std::pair<std::string, Phase>, JobLimits> limits_;  // as far as they were asked
  double next_ = 0;                                            // in steady_now() seconds
  int max_tasks_ = 0;                                          // of one job, as the executor allows; 0: not asked yet
};

}  // namespace ridge::cluster
