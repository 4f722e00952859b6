// A lab's quiz, quiz.toml (docs/questions.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge::loop {

enum class QuestionKind { number, choice, order, line };

// A wrong answer that is expected, and a sentence on why it is wrong.
struct WrongAnswer {
  double value = 0;  // a number, or the number of a line
  std::string why;
};

// One of the choices, or one of the items to put in order.
struct QuizItem {
  std::string text;
  bool right = false;  // of a choice
  std::string why;     // why the choice is wrong; why the item stands at its place. Empty for the right choice
};

struct Question {
  std::string id, ask;
  QuestionKind kind = QuestionKind::number;
  std::string why;                 // why the right answer is right
  std::string lesson;              // section of the lesson that answers it; empty: none is named
  double answer = 0;               // number, line (from 1)
  double tolerance = 0;            // number: the relative error that still counts as right
  std::string unit;                // number
  std::vector<QuizItem> items;     // choice; order, in the right order
  std::vector<std::string> code;   // line: the lines that are shown
  std::vector<WrongAnswer> wrong;  // number, line
};

struct Quiz {
  std::vector<Question> questions;
};

// The quiz of a lab; none where it has no quiz.toml. Throws with file and line where the file is wrong.
std::optional<Quiz> load_quiz(const Lab& lab);
// The same from a file that is named, such as a course's own variant.
Quiz load_quiz(const fs::path& file);
Quiz parse_quiz(std::string_view text, const fs::path& file);

}  // namespace ridge::loop

template <>
struct ridge::Words<ridge::loop::QuestionKind> {
  static constexpr const char* all[] = {"number", "choice", "order", "line"};
};
