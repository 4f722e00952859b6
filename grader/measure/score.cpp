#include "grader/measure/score.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/measure/metrics.hpp"

namespace ridge {

double points_for(const Goal& g, double value) {
  double span = g.full - g.zero;
  double fraction = span == 0 ? (value == g.full ? 1 : 0) : (value - g.zero) / span;
  return g.points * std::clamp(fraction, 0.0, 1.0);
}

namespace {

// The mark for this goal in the case that earns least.
MetricValue worst_mark(const Goal& g, const Measured& m) {
  MetricValue v;
  v.note = "not measured: the lab's check gave no mark";
  for (const lab::Mark& mark : m.marks)
    if (mark.goal == g.id && (!v.value || points_for(g, mark.value) < points_for(g, *v.value)))
      v = {mark.value, mark.unit, mark.message, {}};
  return v;
}

}  // namespace

void score_goals(TaskResult& task, const Task& spec, lab::Backend backend, const Measured& measured, bool correct) {
  if (correct) task.points += spec.points_correct;
  for (const Goal& g : spec.goals) {
    if (g.backend != backend) continue;
    GoalResult r{g.id, g.title, g.metric, "", "", std::nullopt, g.zero, g.full, 0, g.points, false};
    bool ready = correct;
    for (const auto& earlier : task.goals)
      if (earlier.id == g.after && !earlier.met) {
        ready = false;
        r.note = fmt::format("counts once the goal '{}' is met", g.after);
      }
    if (ready) {
      MetricValue v = g.metric == "marked" ? worst_mark(g, measured) : measure(g.metric, measured, spec.baseline);
      r.value = v.value;
      r.unit = v.unit;
      if (v.value) {
        double judged = v.best.value_or(*v.value);
        r.points = points_for(g, judged);
        r.met = r.points >= g.points;
      }
      if (!r.met || v.best) r.note = v.note;
    }
    task.points += r.points;
    task.goals.push_back(r);
  }
}

}  // namespace ridge
