#include "learn/attempts/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// The gate at which a task failed; empty where it passed all.
std::string failed_gate(const TaskResult& t) {
  for (const CheckResult& c : t.checks)
    if (!c.passed && std::none_of(t.goals.begin(), t.goals.end(), [&](const GoalResult& g) { return g.id == c.name; }))
      return c.name;
  return {};
}

std::string in_words(const std::string& gate) {
  return gate.empty()        ? "right"
         : gate == "correct" ? "wrong"
         : gate == "build"   ? "does not compile"
                             : "none (" + gate + " failed)";
}

}  // namespace

std::string goal_text(const GoalResult& g) {
  if (!g.value) return "not measured";
  return fmt::format("{} {} (goal {:g})", value_of(g), g.unit, g.full);
}

std::vector<Change> changes(const TaskResult& before, const TaskResult& after) {
  std::vector<Change> all;
  auto goal_id = [](const GoalResult& g) { return g.id; };
  auto words = [](bool passed) { return passed ? "ok" : "fail"; };
  if (const std::string was = failed_gate(before), is = failed_gate(after); was != is)
    all.push_back({"answer", in_words(was) + " -> " + in_words(is), is.empty() ? 1 : was.empty() ? -1 : 0});
  for (const CheckResult& c : after.checks) {
    const GoalResult* goal = find(after.goals, c.name, goal_id);
    if (goal == nullptr) continue;
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
  std::vector<std::pair<double, std::string>> all;
  const auto a = totals(before), b = totals(after);
  for (const auto& [name, now] : b) {
    const auto at = a.find(name);
    const std::uint64_t was = at == a.end() ? 0 : at->second;
    if (was == now) continue;
    std::string percent;
    if (was != 0) percent = fmt::format(" ({:+.0f}%)", 100 * (static_cast<double>(now) / static_cast<double>(was) - 1));
    const double ratio = (static_cast<double>(now) + 1) / (static_cast<double>(was) + 1);
    all.emplace_back(std::abs(std::log(ratio)), fmt::format("{}: {} -> {}{}", name, was, now, percent));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<std::string> lines;
  for (auto& [by, line] : all) lines.push_back(std::move(line));
  return lines;
}

}  // namespace ridge::loop
