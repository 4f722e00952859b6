// The collector submits waiting work to the executor, moves published results into the gradebook, and gives up attempts
// without a heartbeat. Its state is in the gradebook and the shared folder, so that it can end at any moment and the
// next collector continues.
#pragma once
#include <string>

#include "cluster/src/collect/attempts.hpp"
#include "cluster/src/collect/batches.hpp"
#include "cluster/src/collect/job_watch.hpp"
#include "cluster/src/collect/nodes.hpp"
#include "cluster/src/collect/published.hpp"
#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

class Collector {
 public:
  Collector(Gradebook& book, Executor& executor);

  // One round: collects results, watches the queue, and submits waiting work. It does not wait for jobs.
  void step();
  // Why the last round submitted nothing; empty where the executor answered.
  std::string no_answer() const { return jobs_.controller_away() ? jobs_.no_answer() : ""; }
  // Runs rounds until no work is open, with progress on stderr.
  void run();
  int collect() { return published_.collect(); }  // returns the number of collected files

 private:
  void make_parts();  // the shared folder's folders
  void show_progress(bool last);

  Gradebook& book_;
  Executor& executor_;
  std::string prefix_;
  Attempts attempts_;
  Nodes nodes_;
  Published published_;
  Batches batches_;
  JobWatch jobs_;
  double next_watch_ = 0, next_progress_ = 0, started_ = 0;
  int graded_at_start_ = 0, position_ = -1;
};

// Prints the mean, the submissions that were not graded with the reasons, and the excluded nodes.
void print_summary(Gradebook& book, const std::string& lab);

}  // namespace ridge::cluster
