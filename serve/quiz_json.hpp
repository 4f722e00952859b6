// A lab's quiz on the page. Right answers leave the server only once a question was answered.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

// {"id", "ask", "kind", "items", "code", "unit", "asks", "answer", "right"}: `answer` and `right` are null for an open
// question. Empty where the lab has no quiz.
nlohmann::json quiz_json(const Lab& lab);

// Marks and keeps an answer: {"problem"} where it cannot be read, else {"right", "why", "lesson"}. Null: there is no
// such question.
nlohmann::json answer_quiz(const Lab& lab, const std::string& id, const std::string& typed);

}  // namespace ridge::serve
