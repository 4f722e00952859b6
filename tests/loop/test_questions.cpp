// The questions of a lab: predictions in lab.toml, and quiz.toml.
#include <set>

#include "grader/base/error.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/questions/quiz.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kLab =
    "title = \"Mini\"\norder = 7\nbackends = [\"cpu\"]\nfiles = [\"a.cu\"]\n"
    "[[task]]\nid = \"one\"\ntitle = \"One\"\nfile = \"a.cu\"\npoints_correct = 40\n"
    "[[task.goal]]\nid = \"g\"\ntitle = \"G\"\nbackend = \"cpu\"\nmetric = \"sectors_over_ideal\"\nzero = 4\nfull = 1\n"
    "points = 60\n";  // 17 lines
const std::string kMetric =
    "[[predict]]\nid = \"p\"\ntask = \"one\"\nask = \"How many?\"\nmetric = \"sectors_over_ideal\"\n";
const std::string kFixed = "[[predict]]\nid = \"q\"\ntask = \"one\"\nask = \"?\"\nanswer = 4\nwhy = \"Because.\"\n";
const std::string kChoice =
    "[[predict]]\nid = \"r\"\ntask = \"one\"\nask = \"?\"\nchoices = [\"a\", \"b\"]\nanswer = \"b\"\nwhy = \"So.\"\n";

const std::string kNumber =
    "[[question]]\nid = \"n\"\nkind = \"number\"\nask = \"?\"\nanswer = 12\nwhy = \"w\"\n"
    "wrong = [{ answer = 4, why = \"no\" }]\n";
const std::string kPick =
    "[[question]]\nid = \"c\"\nkind = \"choice\"\nask = \"?\"\nwhy = \"w\"\n"
    "choices = [{ text = \"a\", right = true }, { text = \"b\", why = \"no\" }]\n";
const std::string kOrder =
    "[[question]]\nid = \"o\"\nkind = \"order\"\nask = \"?\"\nwhy = \"w\"\n"
    "items = [{ text = \"a\", why = \"1\" }, { text = \"b\", why = \"2\" }, { text = \"c\", why = \"3\" }]\n";
const std::string kLine =
    "[[question]]\nid = \"l\"\nkind = \"line\"\nask = \"?\"\nwhy = \"w\"\ncode = \"a\\nb\\n\"\nanswer = 2\n"
    "wrong = [{ answer = 1, why = \"no\" }]\n";

// "message | advice" of the error that the text is refused with.
template <class Read>
std::string refused(Read read, std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    read(text);
  } catch (const Error& e) {
    CHECK(e.code == Exit::environment);
    CHECK_FALSE(e.advice.empty());
    return std::string(e.what()) + " | " + e.advice;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("predictions of a manifest") {
  const Lab lab = parse_lab(kLab + kMetric + kFixed + kChoice, "07_mini");
  REQUIRE(lab.predictions.size() == 3);
  CHECK(lab.predictions[0].metric == "sectors_over_ideal");
  CHECK_FALSE(lab.predictions[0].number);
  CHECK(lab.predictions[1].number == 4);
  CHECK(lab.predictions[1].why == "Because.");
  CHECK(lab.predictions[2].right == std::size_t{1});
  CHECK(parse_lab(kLab, "07_mini").predictions.empty());

  auto message = [](const std::string& predict, const std::string& from, const std::string& to) {
    return refused([](const std::string& text) { parse_lab(text, "07_mini"); }, kLab + predict, from, to);
  };
  CHECK(contains(message(kMetric, "ask =", "aks ="), "lab.toml:18: 'ask' is missing"));
  CHECK(contains(message(kMetric, "metric = \"sectors_over_ideal\"\n[[p", "[[p"), "accepted") == false);
  CHECK(contains(message(kMetric, "ask = \"How many?\"", "ask = 3"), "lab.toml:21: 'ask' is of the wrong type"));
  CHECK(contains(message(kMetric + "points = 3\n", "points = 3", "points = 3"), "lab.toml:23: unknown key 'points'"));
  CHECK(contains(message(kMetric, "task = \"one\"", "task = \"two\""),
                 "lab.toml:20: there is no task 'two' | the lab's tasks are one"));
  CHECK(contains(message(kFixed + kMetric, "id = \"p\"", "id = \"q\""), "lab.toml:25: a second prediction 'q'"));
  CHECK(contains(message(kMetric, "id = \"p\"", "id = \"two words\""), "lab.toml:19: 'id' is no name"));
  CHECK(contains(message(kMetric + "answer = 3\n", "answer", "answer"), "both 'metric' and 'answer'"));
  CHECK(contains(message(kFixed, "answer = 4\n", ""), "neither 'metric' nor 'answer'"));
  CHECK(contains(message(kMetric + "#", "sectors_over_ideal\"\n#", "conflicts\"\n"),
                 "no goal of task 'one' has the metric 'conflicts' | its goals have sectors_over_ideal"));
  CHECK(contains(message(kFixed, "why = \"Because.\"\n", ""), "'why' is missing"));
  CHECK(contains(message(kFixed, "answer = 4", "answer = nan"), "'answer' is no finite number"));
  CHECK(contains(message(kChoice, "answer = \"b\"", "answer = \"c\""), "'answer' is none of 'choices'"));
  CHECK(contains(message(kChoice, "[\"a\", \"b\"]", "[\"b\"]"), "'choices' has not 2 to 9"));
  CHECK(contains(message(kChoice, "[\"a\", \"b\"]", "[\"b\", 3]"), "'choices' is not a list of strings"));
}

TEST_CASE("questions of a quiz") {
  const Quiz quiz = parse_quiz(kNumber + kPick + kOrder + kLine, "quiz.toml");
  REQUIRE(quiz.questions.size() == 4);
  CHECK(quiz.questions[0].answer == 12);
  CHECK(quiz.questions[0].tolerance == 0);
  CHECK(quiz.questions[0].wrong[0].why == "no");
  CHECK(quiz.questions[1].items[0].right);
  CHECK(quiz.questions[2].items[2].why == "3");
  CHECK(quiz.questions[3].code == std::vector<std::string>{"a", "b"});

  auto message = [](const std::string& text, const std::string& from, const std::string& to) {
    return refused([](const std::string& t) { parse_quiz(t, "quiz.toml"); }, text, from, to);
  };
  CHECK(contains(message(kNumber, "[[question]]", "[[questoin]]"), "quiz.toml:1: unknown key 'questoin'"));
  CHECK(contains(message("# none\n", "none", "nothing"), "there is no question"));
  CHECK(contains(message(kNumber, "ask = \"?\"\n", ""), "quiz.toml:1: 'ask' is missing"));
  CHECK(
      contains(message(kNumber, "\"number\"", "\"text\""),
               "quiz.toml:3: 'kind' has the value 'text', which there is not | it can be number, choice, order, line"));
  CHECK(contains(message(kNumber + "points = 1\n", "points", "points"), "quiz.toml:8: unknown key 'points'"));
  CHECK(contains(message(kNumber + kPick, "id = \"c\"", "id = \"n\""), "quiz.toml:9: a second question 'n'"));
  CHECK(contains(message(kNumber, "answer = 4, why = \"no\"", "answer = 12, why = \"no\""),
                 "quiz.toml:7: a wrong answer of question 'n' counts as right"));
  CHECK(contains(message(kNumber, "wrong = [{ answer = 4, why = \"no\" }]", ""), "explains no wrong answer"));
  CHECK(contains(message(kNumber, ", why = \"no\"", ""), "quiz.toml:7: 'why' is missing"));
  CHECK(contains(message(kNumber + "tolerance = 5\n", "tolerance", "tolerance"), "'tolerance' is not from 0"));
  CHECK(contains(message(kPick, "right = true", "why = \"no\""), "question 'c' has 0 right choices"));
  CHECK(contains(message(kPick, "why = \"no\"", "right = true"), "question 'c' has 2 right choices"));
  CHECK(contains(message(kPick, ", why = \"no\"", ""), "quiz.toml:6: 'why' is missing"));
  CHECK(contains(message(kPick, "choices", "items"), "'choices' is missing"));
  CHECK(contains(message(kOrder, ", { text = \"c\", why = \"3\" }", ""), "question 'o' has 2 items | take 3 to 9"));
  CHECK(contains(message(kLine, "answer = 2", "answer = 3"),
                 "quiz.toml:7: question 'l' shows no line 3 | its lines are 1 to 2"));
  CHECK(contains(message(kLine, "answer = 1,", "answer = 0,"), "quiz.toml:8: question 'l' shows no line 0"));
  CHECK(contains(message(kLine, "answer = 2", "answer = \"b\""), "'answer' is of the wrong type"));
}

// A quiz may be absent. What there is must be complete.
TEST_CASE("the questions of all labs can be read, and name sections that exist") {
  for (const Lab& lab : load_labs()) {
    INFO(lab.name);
    std::set<std::string> anchors = {""};
    for (const Section& s : sections_of(file_text(lab.dir / "README.md"))) anchors.insert(s.anchor);
    for (const Prediction& p : lab.predictions) {
      INFO(p.id);
      CHECK(p.ask.size() <= 400);
      CHECK(p.ask.back() == '?');
    }
    const std::optional<Quiz> quiz = load_quiz(lab);
    if (!quiz) continue;
    CHECK(quiz->questions.size() >= 6);
    for (const Question& q : quiz->questions) {
      INFO(q.id);
      CHECK(anchors.count(q.lesson) == 1);
    }
  }
}
