// What carries a class's jobs out: Slurm or Kubernetes. A batch is one job with a task for each group of submissions. A
// missing answer is reported as such, never as "the job is gone".
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct QueuedTask {
  enum class State { waiting, running, suspended } state = State::waiting;
  std::string job;     // as `cancel` takes it
  std::string node;    // empty: not known
  std::string run;     // another one each time that the executor starts the task anew; may be empty
  std::string reason;  // why it waits; empty: only for its turn
  // Why it will not start by itself: the executor holds it; it is held, but that may pass; all nodes that it could run
  // on are left out, or out of service.
  enum class Stuck { no, held, held_for_now, no_node, nodes_away } stuck = Stuck::no;
  int task = 0;
};

// How a task ended.
struct EndedTask {
  std::string why;         // as the executor says it; may be empty
  bool preempted = false;  // its resources went to other jobs, which is nobody's failure
};
using EndedTasks = std::map<std::pair<std::string, int>, EndedTask>;  // by job name and task

// The machine took a task away, and the executor starts it again by itself under the same tokens.
struct Disruption {
  std::string id;  // the same each time that it is reported
  std::string job, node, why;
  bool blames_node = false;
  int task = 0;
};

struct JobsSeen {
  std::multimap<std::string, QueuedTask> queued;  // by job name
  EndedTasks ended;                               // as long as the executor remembers them
  std::vector<Disruption> disruptions;
};

struct JobRequest {
  std::string name;
  CourseLab lab;
  bool builds = false;  // a job that builds apart from runs
  int tasks = 1, at_once = 0, minutes = 1;
  std::vector<std::string> excluded = {};  // nodes
  fs::path batch = {}, log = {};           // log: with %a for the task
  std::string ridge = {};                  // the program, as the job finds it
};

struct Submitted {
  enum class Kind { accepted, unknown, refused } kind = Kind::unknown;
  std::string job, message;
};

// What the executor's administrators allow this account, in tasks; the words name what binds, and are empty where
// nothing does.
struct JobLimits {
  int running = 0, submitted = 0;  // at a time; submitted: waiting ones too
  std::string running_by, submitted_by;
};

// Where a job finds what the collector names by its own paths.
struct JobPaths {
  fs::path program, ridge, signing_key, seeds;
};

struct Finding {
  enum class Kind { good, doubtful, bad } kind;
  std::string what, advice;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string name() const = 0;
  // The tasks of jobs whose name begins with `prefix`. Nothing where there was no answer; `why` then says more.
  virtual std::optional<JobsSeen> look(const std::string& prefix, std::string& why) = 0;
  // `unknown` means that there was no reply: look for the job's name before another try.
  virtual Submitted submit(const JobRequest& request) = 0;
  virtual void cancel(const std::vector<std::string>& jobs) = 0;
  // Ends all jobs whose name begins with `prefix`. False: there was no answer.
  virtual bool cancel_all(const std::string& prefix) = 0;
  // Whether the executor calls the node well: it answers, and is not taken out of service.
  virtual bool node_is_well(const std::string& node) = 0;
  virtual int most_tasks() = 0;  // of one job
  // Whether a refusal is about the number of jobs that a user may have.
  virtual bool is_submit_limit(const std::string& message) const = 0;
  // The number of waiting jobs before the first one with `prefix`; -1 where it is not known.
  virtual int position(const std::string& prefix) = 0;
  virtual JobLimits limits(const CourseLab& /*lab*/, bool /*builds*/) { return {}; }
  // The nodes that take the lab's jobs now; none where the executor does not say.
  virtual std::vector<std::string> nodes(const CourseLab& lab, bool builds) = 0;
  virtual JobPaths paths() const = 0;
  // Compares course.toml with the cluster, without a job.
  virtual void examine(std::vector<Finding>& findings) = 0;
};

// The path of this program for nodes, which stays valid where a newer build replaced the file.
std::string own_program();

}  // namespace ridge::cluster
