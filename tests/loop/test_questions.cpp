// The questions of a lab: predictions in lab.toml, quiz.toml, and what students answer.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "grader/base/error.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/questions/marking.hpp"
#include "learn/questions/participation.hpp"
#include "learn/questions/predictions.hpp"
#include "learn/questions/quiz.hpp"
#include "learn/questions/typed.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;
using namespace ridge::loop;
using ridge::test::Folder;

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

TEST_CASE("numbers as people type them") {
  auto value = [](const char* text, const char* unit = "") { return typed_number(text, unit).value; };
  CHECK(value("4") == 4);
  CHECK(value(" 4x ") == 4);
  CHECK(value("4 times") == 4);
  CHECK(value("1e3") == 1000);
  CHECK(value("1,5") == 1.5);
  CHECK(value("0,125") == std::nullopt);
  CHECK(value("-2.5") == -2.5);
  CHECK(value("+3") == 3);
  CHECK(value("9/8") == 1.125);
  CHECK(value("~20 Sectors", "sectors") == 20);
  CHECK(value("8 x the ideal", "x the ideal") == 8);
  CHECK(value("10 KB", "KB") == 10);
  for (const char* none :
       {"", "x", "four", "4 5", "1/0", "nan", "inf", "1e999", "0x10", "4 KB", "--1", "1.2.3", "/", "~"}) {
    INFO(none);
    const TypedNumber typed = typed_number(none, "sectors");
    CHECK_FALSE(typed.value);
    CHECK(contains(typed.problem, "is no number"));
  }
  for (const char* both : {"1,000", "1.000,5", "1,000.5", "1,000,000"}) {
    INFO(both);
    CHECK(contains(typed_number(both, "").problem, "can be read in two ways"));
  }
  CHECK(typed_choice("2", 3) == std::size_t{1});
  CHECK(typed_choice(" B) ", 3) == std::size_t{1});
  for (const char* none : {"0", "4", "d", "", "12", "first", "-", ":"}) CHECK_FALSE(typed_choice(none, 3));
}

TEST_CASE("each answer is marked with its own reason") {
  const Quiz quiz = parse_quiz(
      "[[question]]\nid = \"n\"\nkind = \"number\"\nask = \"?\"\nanswer = 10\ntolerance = 0.05\nunit = \"KB\"\n"
      "why = \"right\"\nwrong = [{ answer = 1000, why = \"whole GPU\" }]\n" +
          kPick + kOrder + kLine,
      "quiz.toml");
  const auto& q = quiz.questions;
  CHECK(marked(q[0], "10.4 KB").right);
  CHECK_FALSE(marked(q[0], "10.6").right);
  CHECK(marked(q[0], "10.6").why == "right");
  CHECK(marked(q[0], "1000").why == "whole GPU");
  CHECK(contains(marked(q[0], "ten").problem, "is no number"));
  CHECK(marked(q[1], "1").right);
  CHECK(marked(q[1], "b").why == "no");
  CHECK(contains(marked(q[1], "3").problem, "1 to 2"));
  CHECK(marked(q[3], "2").right);
  CHECK(marked(q[3], "1").why == "no");
  CHECK(contains(marked(q[3], "3").problem, "there is no such line: 1 to 2"));
  CHECK(contains(marked(q[3], "1.5").problem, "there is no such line"));

  const std::vector<std::size_t> shown = shown_order(q[2]);
  CHECK_FALSE(std::is_sorted(shown.begin(), shown.end()));
  CHECK(shown == shown_order(q[2]));
  std::string right(3, ' ');
  for (std::size_t i = 0; i < 3; ++i) right[shown[i]] = static_cast<char>('a' + i);
  CHECK(marked(q[2], right).right);
  CHECK(marked(q[2], std::string{right[0], ',', ' ', right[1], ' ', right[2]}).right);
  const Marked wrong = marked(q[2], std::string{right[0], right[2], right[1]});
  CHECK(wrong.why == "Place 2 belongs to \"b\" 2");
  CHECK_FALSE(wrong.right);
  CHECK_FALSE(marked(q[2], "ab").problem.empty());
  CHECK_FALSE(marked(q[2], "aab").problem.empty());
  CHECK_FALSE(marked(q[2], "abz").problem.empty());
  for (const Question& one : q) CHECK(contains(shown_question(one), "?"));
}

TEST_CASE("predictions beside what was measured") {
  Folder home;
  setenv("RIDGE_WORK", home.path.c_str(), 1);
  const Lab lab = parse_lab(kLab + kMetric + kFixed + kChoice, "07_mini");
  CHECK(to_ask(lab, "", lab::Backend::cpu).size() == 3);
  CHECK(to_ask(lab, "", lab::Backend::cuda).size() == 2);  // its metric is the emulator's
  CHECK(to_ask(lab, "other", lab::Backend::cpu).empty());

  keep_prediction(lab, lab.predictions[0], "4", 4);
  keep_prediction(lab, lab.predictions[1], "", std::nullopt);
  keep_prediction(lab, lab.predictions[2], "a", 1);
  CHECK(to_ask(lab, "", lab::Backend::cpu).empty());  // a skipped one is not asked again

  Result r;
  r.time = "2026-11-25T00:00:00.000Z", r.attempt = "one", r.outcome = Outcome::build_failed;
  CHECK(compare_predictions(lab, r).empty());
  TaskResult t;
  t.id = "one", t.status = Status::failed;
  GoalResult g;
  g.metric = "sectors_over_ideal";  // without a value: the answer was wrong
  t.goals = {g};
  r.outcome = Outcome::failed, r.tasks = {t};
  const auto first = compare_predictions(lab, r);
  REQUIRE(first.size() == 1);
  CHECK(comparison(first[0]) == "\"a\" predicted; the answer is \"b\"");
  CHECK(contains(comparisons_text(first), "So."));
  r.tasks[0].goals[0].value = 8;
  const auto second = compare_predictions(lab, r);
  REQUIRE(second.size() == 1);
  CHECK(comparison(second[0]) == "4 predicted, 8 measured: ratio 0.5");
  r.tasks[0].goals[0].value = 1;
  CHECK(compare_predictions(lab, r).empty());  // the first value stays

  const Calibration c = calibration(predictions_of(lab));
  CHECK(c.compared == 2);
  CHECK(c.near == 1);
  CHECK(c.skipped == 1);
  CHECK(c.median_ratio == 0.5);
  CHECK(calibration_text(c) == "1 of 2 predictions right or within a factor of 2; median ratio 0.5");
  CHECK(calibration_text({}).empty());

  Predicted none;
  none.value = 0, none.measured = 0;
  CHECK(none.near());
  none.measured = 0.1;
  CHECK_FALSE(none.near());
  unsetenv("RIDGE_WORK");
}

TEST_CASE("what a submission says of answered questions is read with care") {
  const Participation p{5, 4, 2, 8, 6, 5};
  const auto again = read_participation(participation_text(p));
  REQUIRE(again);
  CHECK(again->near == 2);
  CHECK(again->right == 5);
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = participation_text(p);
    text.replace(text.find(from), from.size(), to);
    return read_participation(text);
  };
  CHECK_FALSE(with("\"right\": 5", "\"right\": 7"));        // more than were answered
  CHECK_FALSE(with("\"answered\": 6", "\"answered\": 9"));  // more than there are
  CHECK_FALSE(with("\"questions\": 8", "\"questions\": 1e30"));
  CHECK_FALSE(with("\"predictions\": 5", "\"predictions\": -5"));
  CHECK_FALSE(with("ridge.questions/1", "ridge.result/1"));
  CHECK_FALSE(read_participation(""));
  CHECK_FALSE(read_participation("[]"));
  CHECK_FALSE(read_participation(std::string(5000, ' ') + participation_text(p)));
}
