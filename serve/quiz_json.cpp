#include "serve/quiz_json.hpp"

#include "learn/questions/marking.hpp"
#include "learn/questions/quiz.hpp"

namespace ridge::serve {

using nlohmann::json;

json quiz_json(const Lab& lab) {
  json all = json::array();
  const auto quiz = loop::load_quiz(lab);
  if (!quiz) return all;
  const loop::QuizState state = loop::quiz_state(lab.name, *quiz);
  for (std::size_t i = 0; i < quiz->questions.size(); ++i) {
    const loop::Question& q = quiz->questions[i];
    const loop::QuestionState& s = state.questions[i];
    json items = json::array();
    if (q.kind == loop::QuestionKind::order)
      for (std::size_t place : loop::shown_order(q)) items.push_back(q.items[place].text);
    else
      for (const loop::QuizItem& item : q.items) items.push_back(item.text);
    all.push_back({{"id", q.id},
                   {"ask", q.ask},
                   {"kind", name_of(q.kind)},
                   {"items", items},
                   {"code", q.code},
                   {"unit", q.kind == loop::QuestionKind::number ? q.unit : ""},
                   {"asks", loop::asks_for(q)},
                   {"answer", s.last ? json(s.answer) : json(nullptr)},
                   {"right", s.last ? json(*s.last) : json(nullptr)}});
  }
  return all;
}

json answer_quiz(const Lab& lab, const std::string& id, const std::string& typed) {
  const auto quiz = loop::load_quiz(lab);
  if (!quiz) return nullptr;
  for (const loop::Question& q : quiz->questions) {
    if (q.id != id) continue;
    const loop::Marked m = loop::marked(q, typed);
    if (!m.problem.empty()) return {{"problem", m.problem}};
    loop::keep_answer(lab.name, q, m);
    return {{"right", m.right}, {"why", m.why}, {"lesson", m.right ? "" : q.lesson}};
  }
  return nullptr;
}

}  // namespace ridge::serve
