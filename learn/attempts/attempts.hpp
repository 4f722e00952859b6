// A student's own attempts at a lab, and where they stand.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/lab.hpp"
#include "grader/result/result.hpp"
#include "learn/attempts/journal.hpp"

namespace ridge::loop {

struct Attempt {
  std::string id;
  Result result;
  std::string note;  // the hypothesis
};

// Names of the attempts at work/NN_name, oldest first. Results of other folders (the demo, --submission) are not among
// them.
std::vector<std::string> own_attempts(const Lab& lab);

// Empty where there is no such result, or it can't be read.
std::optional<Attempt> load_attempt(const std::string& lab, const std::string& id);

struct TaskState {
  std::string id;
  std::optional<TaskResult> last;  // of the newest attempt that judged it
  int hints = 0;
  bool gave_up = false;
  bool passed() const { return last && last->status == "passed"; }
  bool skipped() const { return last && last->status == "skipped"; }
};

struct LabState {
  Lab lab;
  bool started = false;
  std::string last_attempt, last_time;  // empty: none
  bool last_built = true;
  std::map<std::string, std::string> files;  // of the last attempt
  double points = 0, max = 0;
  std::vector<TaskState> tasks;

  int passed_tasks() const;
  bool passed() const;  // all that ran here, and some did
};

LabState state_of(const Lab& lab);

// The task to work on next: the first that has not passed. Null where all have.
const TaskState* next_task(const LabState& state);

// The lab's number as people type it: "01".
std::string number_of(const Lab& lab);

// The task of that name; throws a usage error with a suggestion where there is none.
const Task& find_task(const Lab& lab, const std::string& id);

// The same; where `id` is empty, the task to work on next, or the last one where all have passed.
const Task& task_or_next(const LabState& state, const std::string& id);

// After an own attempt: keeps its files and notes it in the journal. `before`: what the files held before it was
// judged.
using Sources = std::map<std::string, std::string>;
Sources read_sources(const fs::path& dir);
void record_attempt(const Lab& lab, const Result& result, const Sources& before, const std::string& note);

}  // namespace ridge::loop
