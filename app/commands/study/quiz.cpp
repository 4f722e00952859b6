// ridge quiz asks a lab's questions and keeps the answers in the journal.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/questions/marking.hpp"
#include "learn/questions/typed.hpp"

namespace ridge {

namespace {

using namespace loop;

struct QuizArguments {
  std::string lab, file;
  bool list = false, again = false;
};

const char* standing(const QuestionState& s) {
  if (!s.last) return "open";
  if (!*s.last) return "wrong so far";
  return *s.first ? "right" : "right by now";
}

void list_questions(const Quiz& quiz, const QuizState& state) {
  for (std::size_t i = 0; i < quiz.questions.size(); ++i) {
    const Question& q = quiz.questions[i];
    fmt::print("\n{}, {}: {}\n{}", i + 1, q.id, standing(state.questions[i]), shown_question(q));
    if (state.questions[i].last) fmt::print("{}", wrapped("-> " + printable(state.questions[i].answer), 4));
  }
}

// Asks until the answer can be read. False: the input has ended. Where nobody sits at a terminal, a line that cannot be
// read is told, and the question stays open.
bool ask(const Lab& lab, const Question& q) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  for (;;) {
    fmt::print("  {}> ", asks_for(q));
    std::fflush(stdout);
    std::string typed;
    if (!std::getline(std::cin, typed)) {
      fmt::print("\n");
      return false;
    }
    if (!terminal) fmt::print("{}\n", printable(typed));
    if (trimmed(typed).empty()) return true;
    const Marked m = marked(q, typed);
    if (!m.problem.empty()) {
      fmt::print("  {}. Enter leaves the question open.\n", m.problem);
      if (terminal) continue;
      return true;
    }
    keep_answer(lab.name, q, m);
    fmt::print("{}", wrapped(fmt::format("{} {}", m.right ? "Right." : "No.", m.why), 2));
    if (!m.right && !q.lesson.empty()) fmt::print("  Lesson: labs/{}/README.md#{}\n", lab.name, q.lesson);
    return true;
  }
}

int run_quiz(const QuizArguments& a) {
  const Lab lab = find_lab(a.lab);
  const std::optional<Quiz> found = a.file.empty() ? load_quiz(lab) : std::optional<Quiz>(load_quiz(fs::path(a.file)));
  if (!found) {
    fmt::print("{} has no quiz.\n", lab.name);
    return 0;
  }
  const Quiz& quiz = *found;
  const QuizState before = quiz_state(lab.name, quiz);
  const auto total = quiz.questions.size();
  fmt::print("Quiz of lab {}: {} question{}, {} answered.\n", number_of(lab), total, total == 1 ? "" : "s",
             before.answered());
  if (a.list) {
    list_questions(quiz, before);
    return 0;
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < total; ++i)
    if (a.again ? before.questions[i].last == false : !before.questions[i].last) open.push_back(i);
  if (!open.empty())
    fmt::print("There are no points. Enter leaves a question open; Ctrl-C ends, and your answers are kept.\n");
  for (const std::size_t i : open) {
    fmt::print("\n{} of {}\n{}", i + 1, total, shown_question(quiz.questions[i]));
    if (!ask(lab, quiz.questions[i])) break;
  }
  const QuizState after = quiz_state(lab.name, quiz);
  fmt::print("\n{} of {} answered, {} right at first, {} right by now.\n", after.answered(), total,
             after.right_at_first(), after.right_now());
  if (after.answered() > after.right_now())
    print_as_typed("Those that are wrong so far, once more: ./ridge quiz {} --again\n", number_of(lab));
  return 0;
}

}  // namespace

void add_quiz(Commands& ridge) {
  CLI::App* command = ridge.add("quiz", "Questions on a lab, with a reason for each answer",
                                "  ridge quiz 01                   those that are still open\n"
                                "  ridge quiz 01 --again           those that are wrong so far\n"
                                "  ridge quiz 01 --list\n"
                                "  ridge quiz 01 < answers.txt     one answer a line, an empty line for none");
  auto a = std::make_shared<QuizArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_flag("--list", a->list, "All questions, and your answers so far");
  command->add_flag("--again", a->again, "Ask once more what is wrong so far");
  command->add_option("--file", a->file, "Another quiz.toml for this lab, such as your course's own");
  ridge.set_action(command, [a] { return run_quiz(*a); });
}

}  // namespace ridge
