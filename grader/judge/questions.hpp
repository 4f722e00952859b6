// The questions of a submission's host code in one run (runtime/lab/ask.hpp): answered by the lab's check, and counted
// here, whoever asks.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "checks/check.hpp"
#include "checks/stopwatch.hpp"
#include "grader/judge/explain.hpp"

namespace ridge {

class Questions {
 public:
  // `calls`: of the run; each may ask as many questions as the lab says. `stopwatch`: of a check that answers by times.
  Questions(const lab::TaskCheck& check, const lab::Case& c, std::size_t calls, lab::Stopwatch* stopwatch)
      : check_(check),
        stopwatch_(stopwatch),
        by_times_(stopwatch != nullptr ? dynamic_cast<const lab::AnswersByTimes*>(&check) : nullptr),
        case_(c),
        calls_(calls),
        most_(calls * check.most_questions(c)) {}

  bool any_allowed() const { return most_ > 0; }
  protocol::Told answer(const protocol::Ask& ask) {
    protocol::Told told;
    if (asked_.size() == most_) {
      ++refused_;
      told.refused = 1;
      return told;
    }
    lab::Question& question = asked_.emplace_back();
    std::copy_n(ask.value, question.value.size(), question.value.begin());
    const lab::Answer answer =
        by_times_ != nullptr ? by_times_->timed_answer(case_, asked_, *stopwatch_) : check_.answer(case_, asked_);
    std::copy_n(answer.value.begin(), answer.value.size(), told.value);
    return told;
  }
  const std::vector<lab::Question>& asked() const { return asked_; }
  // Fails where a question was refused.
  Gate gate() const {
    if (refused_ == 0) return {};
    return {"questions", fmt::format("{} questions in {} call{}, where {} may ask {} at most", asked_.size() + refused_,
                                     calls_, calls_ == 1 ? "" : "s", calls_ == 1 ? "it" : "they", most_)};
  }

 private:
  const lab::TaskCheck& check_;
  lab::Stopwatch* stopwatch_;
  const lab::AnswersByTimes* by_times_;
  lab::Case case_;
  std::size_t calls_, most_, refused_ = 0;
  std::vector<lab::Question> asked_;
};

}  // namespace ridge
