#include "learn/questions/marking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/journal.hpp"
#include "learn/questions/typed.hpp"

namespace ridge::loop {

namespace {

constexpr double kRounding = 1e-9;  // a third typed as 1/3 is a third

bool equal(double value, double wanted, double tolerance) {
  return std::abs(value - wanted) <= std::max(tolerance, kRounding) * std::abs(wanted);
}

Marked mark_number(const Question& q, const std::string& typed) {
  const TypedNumber number = typed_number(typed, q.kind == QuestionKind::line ? "" : q.unit);
  if (!number.value) return {number.problem, "", false, ""};
  const double value = *number.value;
  if (q.kind == QuestionKind::line &&
      (value != std::floor(value) || value < 1 || value > static_cast<double>(q.code.size())))
    return {fmt::format("there is no such line: 1 to {}", q.code.size()), "", false, ""};
  Marked m{"", fmt::format("{:.6g}", value), equal(value, q.answer, q.tolerance), q.why};
  if (m.right) return m;
  for (const WrongAnswer& w : q.wrong)
    if (equal(value, w.value, q.tolerance)) {
      m.why = w.why;
      break;
    }
  return m;
}

Marked mark_choice(const Question& q, const std::string& typed) {
  const auto at = typed_choice(typed, q.items.size());
  if (!at) return {fmt::format("'{}' is no choice: 1 to {}", printable(trimmed(typed)), q.items.size()), "", false, ""};
  const QuizItem& item = q.items[*at];
  return {"", item.text, item.right, item.right ? q.why : item.why};
}

Marked mark_order(const Question& q, const std::string& typed) {
  const std::vector<std::size_t> shown = shown_order(q);
  std::vector<std::size_t> places;
  std::string letters;
  for (const char c : typed) {
    if (c == ' ' || c == ',' || c == '\t' || c == '\r') continue;
    const auto at = typed_choice(std::string(1, c), shown.size());
    if (!at || std::count(places.begin(), places.end(), shown[*at]) != 0)
      return {"each letter once, such as " + std::string("bcade").substr(0, shown.size()), "", false, ""};
    places.push_back(shown[*at]);
    letters += static_cast<char>('a' + *at);
  }
  if (places.size() != shown.size()) return {fmt::format("name all {} letters in order", shown.size()), "", false, ""};
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] != i)
      return {"", letters, false, fmt::format("Place {} belongs to \"{}\" {}", i + 1, q.items[i].text, q.items[i].why)};
  return {"", letters, true, q.why};
}

}  // namespace

std::vector<std::size_t> shown_order(const Question& q) {
  std::vector<std::size_t> order(q.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint32_t state = 2166136261U;  // FNV-1a of the id: the same order each time, so that an answer can be kept
  for (const char c : q.id) state = (state ^ static_cast<unsigned char>(c)) * 16777619U;
  for (std::size_t i = order.size(); i > 1; --i) {
    state = state * 1664525U + 1013904223U;
    std::swap(order[i - 1], order[(state >> 16) % i]);
  }
  if (std::is_sorted(order.begin(), order.end())) std::rotate(order.begin(), order.begin() + 1, order.end());
  return order;
}

std::string shown_question(const Question& q) {
  std::string out = wrapped(q.ask, 2);
  auto line = [&](const std::string& mark, const std::string& text) {
    std::string body = wrapped(text, 7);
    body.replace(2, mark.size(), mark);
    out += body;
  };
  if (q.kind == QuestionKind::choice)
    for (std::size_t i = 0; i < q.items.size(); ++i) line(fmt::format("{:>3}", i + 1), q.items[i].text);
  if (q.kind == QuestionKind::order) {
    const auto order = shown_order(q);
    for (std::size_t i = 0; i < order.size(); ++i)
      line(fmt::format("  {}", static_cast<char>('a' + i)), q.items[order[i]].text);
  }
  for (std::size_t i = 0; i < q.code.size(); ++i) out += fmt::format("  {:>3}  {}\n", i + 1, q.code[i]);
  return out;
}

std::string asks_for(const Question& q) {
  switch (q.kind) {
    case QuestionKind::number:
      return q.unit.empty() ? "a number" : q.unit;
    case QuestionKind::choice:
      return fmt::format("1 to {}", q.items.size());
    case QuestionKind::order:
      return "letters in order";
    case QuestionKind::line:
      return "line";
  }
  return "";
}

Marked marked(const Question& q, const std::string& typed) {
  switch (q.kind) {
    case QuestionKind::choice:
      return mark_choice(q, typed);
    case QuestionKind::order:
      return mark_order(q, typed);
    case QuestionKind::number:
    case QuestionKind::line:
      break;
  }
  return mark_number(q, typed);
}

int QuizState::answered() const {
  return static_cast<int>(
      std::count_if(questions.begin(), questions.end(), [](const QuestionState& q) { return q.first.has_value(); }));
}
int QuizState::right_at_first() const {
  return static_cast<int>(
      std::count_if(questions.begin(), questions.end(), [](const QuestionState& q) { return q.first == true; }));
}
int QuizState::right_now() const {
  return static_cast<int>(
      std::count_if(questions.begin(), questions.end(), [](const QuestionState& q) { return q.last == true; }));
}

QuizState quiz_state(const std::string& lab, const Quiz& quiz) {
  QuizState state;
  const std::vector<Event> events = journal(lab);
  for (const Question& q : quiz.questions) {
    QuestionState one;
    for (const Event& e : events) {
      if (e.kind != "quiz" || e.question != q.id || !e.right) continue;
      if (!one.first) one.first = e.right;
      one.last = e.right, one.answer = e.answer;
    }
    state.questions.push_back(std::move(one));
  }
  return state;
}

void keep_answer(const std::string& lab, const Question& q, const Marked& m) {
  Event e{"", "quiz", "", "", ""};
  e.question = q.id, e.answer = m.answer, e.right = m.right;
  add_event(lab, std::move(e));
}

}  // namespace ridge::loop
