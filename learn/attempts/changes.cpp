#include "learn/attempts/changes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "grader/base/text.hpp"

namespace ridge::loop {

namespace {

template <class Item, class Name>
const Item* find(const std::vector<Item>& all, const std::string& name, Name name_of) {
  for (const Item& item : all)
    if (name_of(item) == name) return &item;
  return nullptr;
}

std::map<std::string, std::uint64_t> totals(const TaskResult& t) {
  std::map<std::string, std::uint64_t> sum;
  for (const KernelCount& k : t.kernels)
    for (const auto& [name, value] : k.counters) sum[name] += value;
  return sum;
}

std::string value_of(const GoalResult& g) { return g.value ? value_text(*g.value, g.full) : "not measured"; }

}  // namespace

std::string goal_text(const GoalResult& g) {
  if (!g.value) return "not measured";
  return fmt::format("{} {} (goal {:g})", value_of(g), g.unit, g.full);
}

std::vector<Change> changes(const TaskResult& before, const TaskResult& after) {
  std::vector<Change> all;
  auto check_name = [](const CheckResult& c) { return c.name; };
  auto goal_id = [](const GoalResult& g) { return g.id; };
  auto words = [](bool passed) { return passed ? "ok" : "fail"; };
  for (const CheckResult& c : after.checks) {
    const GoalResult* goal = find(after.goals, c.name, goal_id);
    const CheckResult* old = find(before.checks, c.name, check_name);
    if (goal == nullptr) {  // a gate: "correct", or the gate that failed
      const bool was = old != nullptr && old->passed;
      if (old == nullptr || was != c.passed)
        all.push_back({c.name,
                       fmt::format("{} -> {}", old == nullptr ? "failed elsewhere" : words(was), words(c.passed)),
                       c.passed ? 1 : -1});
      continue;
    }
    const GoalResult* earlier = find(before.goals, c.name, goal_id);
    if (earlier == nullptr) continue;
    const bool same = earlier->value.has_value() == goal->value.has_value() &&
                      (!goal->value || std::abs(*goal->value - *earlier->value) <= 5e-4 * std::abs(*earlier->value));
    if (same && earlier->met == goal->met) continue;
    int direction = goal->value ? 1 : -1;
    if (goal->value && earlier->value) {
      const bool up = *goal->value > *earlier->value, up_is_better = goal->full > goal->zero;
      direction = up == up_is_better ? 1 : -1;
    }
    std::string text = fmt::format("{} -> {} {} (goal {:g}), {}", value_of(*earlier), value_of(*goal), goal->unit,
                                   goal->full, words(goal->met));
    all.push_back({goal->id, std::move(text), direction});
  }
  return all;
}

std::vector<std::string> counter_changes(const TaskResult& before, const TaskResult& after) {
  std::vector<std::string> all;
  const auto a = totals(before), b = totals(after);
  for (const auto& [name, now] : b) {
    const auto at = a.find(name);
    const std::uint64_t was = at == a.end() ? 0 : at->second;
    if (was == now) continue;
    std::string percent;
    if (was != 0) percent = fmt::format(" ({:+.0f}%)", 100 * (static_cast<double>(now) / static_cast<double>(was) - 1));
    all.push_back(fmt::format("{}: {} -> {}{}", name, was, now, percent));
  }
  return all;
}

}  // namespace ridge::loop
