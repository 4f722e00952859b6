// Suggests what to look at next: the findings that are worth the most points, each with its line, its count, the
// reason, and the lesson's section.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge::loop {

struct Finding {
  std::string task, goal;  // empty goal: a gate failed
  std::string gate;        // the failed gate in a few words, "the answer is wrong"
  double points = 0;       // points that the task can gain
  double waiting = 0;      // points of goals that count only once this one is met
  std::string where;       // "copy.cu:12"; empty where no line is known
  std::string what;        // a sentence with its counts
  std::string why;         // why it costs time, and what to try
  std::string behind;      // a goal of the task whose finding comes first, since it is the cause; mostly empty
  std::string lesson;      // "labs/01_coalescing/README.md#task-1-copy"
};

// The `most` findings that are worth the most points, best first. `sources` are the submission's files by name; they
// may be empty, and give the lines of conditions and barriers.
std::vector<Finding> findings(const Lab& lab, const Result& result,
                              const std::map<std::string, std::string>& sources = {}, std::size_t most = 3);

// The findings as text for a terminal, 100 columns wide. `messages`: includes the messages of wrong answers, which a
// report above would show already.
std::string findings_text(const std::vector<Finding>& findings, bool colour, bool messages);

// The result without the notes that the findings explain at length.
Result without_told(Result result, const std::vector<Finding>& findings);

}  // namespace ridge::loop
