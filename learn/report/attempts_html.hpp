// A student's way through a lab: the points of each attempt as a path, and what was tried, with notes.
#pragma once
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge::loop {

// One attempt at a lab: the points that all tasks had by then, each by its last result.
struct Stop {
  std::string time, note, change;  // the student's hypothesis; "copy.cu +3 -1"
  double points = 0;
  bool built = true;
  std::vector<std::string> passed;  // tasks that passed for the first time
  int hints = 0;                    // taken since the stop before
};

// The stops of this machine's user, oldest first.
std::vector<Stop> stops_of(const Lab& lab);

// A chart of the points over the attempts, and the last of them as a list. Empty where there are none.
std::string attempts_html(const std::vector<Stop>& stops, double most);

}  // namespace ridge::loop
