// Hints of a task, one by one: which comes next, and which were taken.
#pragma once
#include <string>
#include <vector>

#include "learn/attempts/attempts.hpp"

namespace ridge::loop {

struct HintChoice {
  int hint = -1;        // from 0; -1 where the task has none
  std::string answers;  // the failed goal, gate or cause that it answers; empty: none
};

// The next hint to show: the first unseen one that answers a failure of the last attempt, in the order of the failures;
// otherwise the first unseen one. Once all were seen, the last.
HintChoice next_hint(const Task& task, const TaskState* state, const std::vector<int>& shown);

// The hints that were shown, from 0, in that order, of those that the task still has.
std::vector<int> hints_seen(const Lab& lab, const Task& task);

// Notes in the journal that a hint was shown.
void note_hint(const Lab& lab, const Task& task, int hint);

}  // namespace ridge::loop
