#include "learn/questions/participation.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json_fields.hpp"
#include "learn/questions/marking.hpp"
#include "learn/questions/predictions.hpp"

namespace ridge::loop {

namespace {

constexpr const char* kParticipationSchema = "ridge.questions/1";
constexpr std::uint64_t kMostCount = 1000;

}  // namespace

Participation participation_of(const Lab& lab) {
  Participation p;
  for (const Predicted& one : predictions_of(lab)) {
    ++p.predictions;
    p.predicted += one.value.has_value();
    p.near += one.near();
  }
  if (const auto quiz = load_quiz(lab)) {
    const QuizState state = quiz_state(lab.name, *quiz);
    p.questions = static_cast<int>(quiz->questions.size());
    p.answered = state.answered(), p.right = state.right_at_first();
  }
  return p;
}

std::string participation_text(const Participation& p) {
  const nlohmann::json j = {
      {"schema", kParticipationSchema}, {"predictions", p.predictions}, {"predicted", p.predicted}, {"near", p.near},
      {"questions", p.questions},       {"answered", p.answered},       {"right", p.right}};
  return j.dump(1) + "\n";
}

std::optional<Participation> read_participation(const std::string& text) {
  if (text.size() > kMaxParticipationBytes) return std::nullopt;
  const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || text_at(j, "schema") != kParticipationSchema) return std::nullopt;
  Participation p;
  const std::pair<const char*, int*> all[] = {
      {"predictions", &p.predictions}, {"predicted", &p.predicted}, {"near", &p.near},
      {"questions", &p.questions},     {"answered", &p.answered},   {"right", &p.right}};
  for (const auto& [key, to] : all) {
    const std::uint64_t count = count_at(j, key);
    if (count > kMostCount) return std::nullopt;
    *to = static_cast<int>(count);
  }
  if (p.predicted > p.predictions || p.near > p.predicted || p.answered > p.questions || p.right > p.answered)
    return std::nullopt;
  return p;
}

}  // namespace ridge::loop
