// What to do next: the findings of a result that are worth most, each with the line, the count, why it costs, and the
// lesson's section on it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "grader/base/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge::loop {

struct Finding {
  std::string task, goal;  // goal empty: a gate failed
  std::string gate;        // then: in some words, "the answer is wrong"
  double points = 0;       // that the task gains by it
  std::string where;       // "copy.cu:12"; empty where no line is known
  std::string what;        // a sentence with its counts
  std::string why;         // why that costs, and what to try
  std::string lesson;      // "labs/01_coalescing/README.md#task-1-copy"
};

// The `most` worth most, in that order. `sources`: the submission's files by name, for the lines of conditions and
// barriers; may be empty.
std::vector<Finding> findings(const Lab& lab, const Result& result,
                              const std::map<std::string, std::string>& sources = {}, std::size_t most = 3);

// As text for a terminal, 100 columns wide. `messages`: with those of wrong answers, where they do not stand above
// already.
std::string findings_text(const std::vector<Finding>& findings, bool colour, bool messages);

// The result with the notes left out that the findings tell in more words.
Result without_told(Result result, const std::vector<Finding>& findings);

}  // namespace ridge::loop
