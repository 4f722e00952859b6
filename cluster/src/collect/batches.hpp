// Sends waiting work to Slurm, as arrays of jobs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/src/collect/attempts.hpp"
#include "cluster/src/collect/nodes.hpp"

namespace ridge::cluster {

// The phase of a batch. A judging batch builds too, unless the lab builds on other nodes.
enum class Phase { judge, build };

class Batches {
 public:
  Batches(Gradebook& book, const Attempts& attempts, Nodes& nodes)
      : book_(book),
        db_(book.db()),
        course_(book.course()),
        prefix_(book.jobs_prefix()),
        attempts_(attempts),
        nodes_(nodes) {}

  // Submits the waiting work about once a second at most, and less often while Slurm takes no more jobs.
  void submit_waiting();
  // Submits a batch whose row says 'submitting'. JobWatch calls it again where sbatch's reply was lost and no job is
  // known.
  void send(std::int64_t id, const std::string& name, const CourseLab& lab, Phase phase, int tasks);

 private:
  struct Item {
    std::int64_t work;
    std::string content, token, built;
  };
  void make(const CourseLab& lab, Phase phase, const std::vector<Item>& items, int per_job);
  int items_per_job(const CourseLab& lab, Phase phase, std::size_t items) const;

  Gradebook& book_;
  Database& db_;
  const Course& course_;
  std::string prefix_;
  const Attempts& attempts_;
  Nodes& nodes_;
  double next_ = 0;    // in steady_now() seconds
  int max_tasks_ = 0;  // of one array, as Slurm allows; 0: not asked yet
};

}  // namespace ridge::cluster
