// A question of a quiz as it is shown, what an answer is worth, and where a student stands.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "learn/questions/quiz.hpp"

namespace ridge::loop {

// The question as text, with its choices, items or lines.
std::string shown_question(const Question& question);
// The prompt before the cursor: "sectors", "a letter or a number".
std::string asks_for(const Question& question);

struct Marked {
  std::string problem;  // the text is no answer: why. Else empty
  std::string answer;   // as the journal keeps it
  bool right = false;
  std::string why;
};
Marked marked(const Question& question, const std::string& typed);

// The items of a question of kind `order` as they are shown: places in the right order. It is never the right order.
std::vector<std::size_t> shown_order(const Question& question);

struct QuestionState {
  std::optional<bool> first, last;  // whether the first and the last answer were right; none: not answered
  std::string answer;               // the last one
};
struct QuizState {
  std::vector<QuestionState> questions;  // in the quiz's order
  int answered() const;
  int right_at_first() const;
  int right_now() const;
};
QuizState quiz_state(const std::string& lab, const Quiz& quiz);
void keep_answer(const std::string& lab, const Question& question, const Marked& answer);

}  // namespace ridge::loop
