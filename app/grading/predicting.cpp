#include "app/grading/predicting.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/questions/predictions.hpp"
#include "learn/questions/typed.hpp"

namespace ridge {

namespace {

// One question until its answer can be read. False: no more questions are wanted.
bool ask(const Lab& lab, const Prediction& p) {
  fmt::print("\n{}", wrapped(fmt::format("{}: {}", p.task, p.ask), 2));
  for (std::size_t i = 0; i < p.choices.size(); ++i) {
    std::string text = wrapped(p.choices[i], 7);
    text.replace(2, 3, fmt::format("{:>3}", i + 1));
    fmt::print("{}", text);
  }
  const std::string wanted = !p.choices.empty() ? fmt::format("1 to {}", p.choices.size())
                             : p.unit.empty()   ? "a number"
                                                : p.unit;
  for (;;) {
    fmt::print("  {}> ", wanted);
    std::fflush(stdout);
    std::string typed;
    if (!std::getline(std::cin, typed)) {
      fmt::print("\n");
      return false;
    }
    typed = loop::trimmed(typed);
    if (typed.empty()) {
      loop::keep_prediction(lab, p, "", std::nullopt);
      return true;
    }
    if (typed == "s" || typed == "S") return false;
    if (!p.choices.empty()) {
      if (const auto at = loop::typed_choice(typed, p.choices.size())) {
        loop::keep_prediction(lab, p, p.choices[*at], static_cast<double>(*at + 1));
        return true;
      }
      fmt::print("  '{}' is no choice. Enter skips the question.\n", printable(typed));
      continue;
    }
    const loop::TypedNumber number = loop::typed_number(typed, p.unit);
    if (number.value) {
      loop::keep_prediction(lab, p, fmt::format("{:.6g}", *number.value), number.value);
      return true;
    }
    fmt::print("  {}. Enter skips the question.\n", number.problem);
  }
}

}  // namespace

bool somebody_answers() {
  const char* ci = std::getenv("CI");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && (ci == nullptr || *ci == 0);
}

void ask_predictions(const Lab& lab, const std::string& task, lab::Backend backend) {
  const std::vector<Prediction> questions = loop::to_ask(lab, task, backend);
  if (questions.empty()) return;
  fmt::print("Before the first run: what do you expect? A guess will do, and there are no points.\n{}\n",
             questions.size() == 1 ? "Enter skips the question."
                                   : fmt::format("Enter skips a question, s skips all {}.", questions.size()));
  bool more = true;
  for (const Prediction& p : questions) {
    if (more) more = ask(lab, p);
    if (!more) loop::keep_prediction(lab, p, "", std::nullopt);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace ridge
