#include "learn/attempts/hints.hpp"

#include <algorithm>

namespace ridge::loop {

namespace {

// The checks that failed in the last attempt at a task. Goals count where the answer was right: before that they were
// not measured.
std::vector<std::string> failed_checks(const TaskState* state, const Task& task) {
  std::vector<std::string> gates, goals;
  if (state == nullptr || !state->last) return {};
  for (const CheckResult& c : state->last->checks) {
    if (c.passed) continue;
    const bool goal = std::any_of(task.goals.begin(), task.goals.end(), [&](const Goal& g) { return g.id == c.name; });
    std::vector<std::string>& all = goal ? goals : gates;
    if (c.cause != Cause::none) all.emplace_back(name_of(c.cause));
    all.push_back(c.name);
  }
  return gates.empty() ? goals : gates;
}

}  // namespace

HintChoice next_hint(const Task& task, const TaskState* state, const std::vector<int>& shown) {
  auto unseen = [&](int i) { return std::find(shown.begin(), shown.end(), i) == shown.end(); };
  const int count = static_cast<int>(task.hints.size());
  for (const std::string& what : failed_checks(state, task))
    for (int i = 0; i < count; ++i) {
      const auto& answers = task.hints[static_cast<std::size_t>(i)].answers;
      if (unseen(i) && std::find(answers.begin(), answers.end(), what) != answers.end()) return {i, what};
    }
  for (int i = 0; i < count; ++i)
    if (unseen(i)) return {i, {}};
  return {count - 1, {}};
}

std::vector<int> hints_seen(const Lab& lab, const Task& task) {
  std::vector<int> shown = hints_shown(journal(lab.name), task.id);
  const int count = static_cast<int>(task.hints.size());
  shown.erase(std::remove_if(shown.begin(), shown.end(), [&](int i) { return i >= count; }), shown.end());
  return shown;
}

void note_hint(const Lab& lab, const Task& task, int hint) {
  Event e{"", "hint", task.id, "", ""};
  e.value = hint + 1;
  add_event(lab.name, e);
}

}  // namespace ridge::loop
