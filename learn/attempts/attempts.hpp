// A student's own attempts at a lab, and where they stand.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"
#include "learn/attempts/journal.hpp"

namespace ridge::loop {

struct Attempt {
  std::string id;
  Result result;
  std::string note;  // the student's hypothesis
};

// Names of the attempts at work/NN_name, oldest first. Results of other folders (demo, --submission) are not included.
std::vector<std::string> own_attempts(const Lab& lab);

// Empty if there is no such result, or it cannot be read.
std::optional<Attempt> load_attempt(const std::string& lab, const std::string& id);

struct TaskState {
  std::string id;
  std::optional<TaskResult> last;  // result of the newest attempt that judged the task
  int hints = 0;
  bool gave_up = false;
  bool passed() const { return last && last->status == Status::passed; }
  bool skipped() const { return last && last->status == Status::skipped; }
};

struct LabState {
  Lab lab;
  bool started = false;
  std::string last_attempt, last_time;  // empty: none
  bool last_built = true;
  std::map<std::string, std::string> files;  // of the last attempt: SHA-256 by name
  double points = 0, max = 0;
  std::vector<TaskState> tasks;

  int passed_tasks() const;
  bool passed() const;  // every task that could run here passed, and at least one ran
};

LabState state_of(const Lab& lab);

// The task to work on next, which is the first that has not passed. Null if all have passed.
const TaskState* next_task(const LabState& state);

// The lab's number as people type it, such as "01".
std::string number_of(const Lab& lab);

// The task of that name. Throws a usage error with a suggestion if there is none.
const Task& find_task(const Lab& lab, const std::string& id);

// The same; an empty `id` stands for the task to work on next, or for the last one if all have passed.
const Task& task_or_next(const LabState& state, const std::string& id);

// Keeps the files of an attempt and notes the attempt in the journal. `before` are the files as they were before
// judging began.
using Sources = std::map<std::string, std::string>;
Sources read_sources(const fs::path& dir);
void record_attempt(const Lab& lab, const Result& result, const Sources& before, const std::string& note);

}  // namespace ridge::loop
