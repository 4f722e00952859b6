#include "serve/predict_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learn/questions/predictions.hpp"
#include "learn/questions/typed.hpp"

namespace ridge::serve {

using nlohmann::json;

namespace {

std::vector<Prediction> open_ones(const Lab& lab) {
  return loop::to_ask(lab, "", lab.has_backend(lab::Backend::cpu) ? lab::Backend::cpu : lab::Backend::cuda);
}

}  // namespace

json predictions_json(const Lab& lab) {
  const std::vector<Prediction> open = open_ones(lab);
  json all = json::array();
  for (const loop::Predicted& p : loop::predictions_of(lab)) {
    const bool is_open =
        std::any_of(open.begin(), open.end(), [&](const Prediction& o) { return o.id == p.prediction.id; });
    if (!is_open && !p.value) continue;
    all.push_back({{"id", p.prediction.id},
                   {"task", p.prediction.task},
                   {"ask", p.prediction.ask},
                   {"choices", p.prediction.choices},
                   {"unit", p.prediction.unit},
                   {"open", is_open},
                   {"answer", p.answer},
                   {"near", p.compared() && p.near()},
                   {"comparison", p.compared() ? loop::comparison(p) : ""},
                   {"why", p.compared() ? p.prediction.why : ""}});
  }
  return all;
}

std::string keep_typed_prediction(const Lab& lab, const std::string& id, const std::string& typed) {
  const std::vector<Prediction> open = open_ones(lab);
  const auto p = std::find_if(open.begin(), open.end(), [&](const Prediction& o) { return o.id == id; });
  if (p == open.end()) return "this prediction is not open";
  const std::string answer = loop::trimmed(typed);
  if (answer.empty()) {
    loop::keep_prediction(lab, *p, "", std::nullopt);
    return {};
  }
  if (!p->choices.empty()) {
    const auto at = loop::typed_choice(answer, p->choices.size());
    if (!at) return "'" + answer + "' is no choice";
    loop::keep_prediction(lab, *p, p->choices[*at], static_cast<double>(*at + 1));
    return {};
  }
  const loop::TypedNumber number = loop::typed_number(answer, p->unit);
  if (!number.value) return number.problem;
  loop::keep_prediction(lab, *p, fmt::format("{:.6g}", *number.value), number.value);
  return {};
}

}  // namespace ridge::serve
