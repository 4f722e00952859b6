// Times on a GPU that a check takes while it judges: of calls of the course's own program, baseline.cu.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "check.hpp"

namespace ridge::lab {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  // Seconds of a call of `task` for each case, on the judge's clock: times[case][turn]. In each turn all cases come
  // once, in an order that is drawn anew. They share one set of buffers, that of the first case's shape; it is filled
  // once for each shape. Throws Error(Exit::environment) where the program fails.
  virtual std::vector<std::vector<double>> times(const TaskCheck& task, std::span<const Case> cases, int turns) = 0;
};

// What a TaskCheck is besides, if times answer its questions on a GPU (backend cuda).
class AnswersByTimes {
 public:
  virtual ~AnswersByTimes() = default;
  // Why a GPU of this compute capability ("9.0") cannot run what is timed; empty where it can.
  virtual std::string why_not_on(const std::string& compute) const = 0;
  // Before a case is judged. No process of the submission is there yet.
  virtual void time_before(const Case& c, Stopwatch& stopwatch) const = 0;
  // In the place of TaskCheck::answer(): the submission waits meanwhile.
  virtual Answer timed_answer(const Case& c, std::span<const Question> asked, Stopwatch& stopwatch) const = 0;
};

}  // namespace ridge::lab
