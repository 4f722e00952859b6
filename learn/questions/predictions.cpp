#include "learn/questions/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/base/statistics.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"

namespace ridge::loop {

namespace {

bool measured_on(const Lab& lab, const Prediction& p, lab::Backend backend) {
  const Task& task = find_task(lab, p.task);
  if (backend == lab::Backend::cpu && !task.runs_emulated()) return false;
  return p.metric.empty() || std::any_of(task.goals.begin(), task.goals.end(),
                                         [&](const Goal& g) { return g.metric == p.metric && g.backend == backend; });
}

// The value that a result gives for the prediction, if it has one yet.
std::optional<double> told_by(const Result& r, const Prediction& p) {
  if (r.outcome == Outcome::build_failed) return std::nullopt;
  for (const TaskResult& t : r.tasks) {
    if (t.id != p.task || t.status == Status::skipped) continue;
    if (p.right) return static_cast<double>(*p.right + 1);
    if (p.number) return p.number;
    for (const GoalResult& g : t.goals)
      if (g.metric == p.metric && g.value) return g.value;
  }
  return std::nullopt;
}

std::string with_unit(double value, const Prediction& p) {
  return fmt::format("{:.3g}{}{}", value, p.unit.empty() ? "" : " ", p.unit);
}

std::string choice_text(const Prediction& p, double number) {
  const auto at = static_cast<std::size_t>(number) - 1;
  return number >= 1 && at < p.choices.size() ? p.choices[at] : "?";
}

}  // namespace

std::optional<double> Predicted::ratio() const {
  if (!compared() || is_choice() || *measured == 0 || *value == 0) return std::nullopt;
  return *value / *measured;
}

bool Predicted::near() const {
  if (!compared()) return false;
  const auto r = ratio();
  return r ? *r >= 0.5 && *r <= 2 : *value == *measured;
}

std::vector<Predicted> predictions_of(const Lab& lab) {
  std::vector<Predicted> all;
  const std::vector<Event> events = journal(lab.name);
  for (const Prediction& p : lab.predictions) {
    Predicted one;
    one.prediction = p;
    for (const Event& e : events) {
      if (e.question != p.id) continue;
      if (e.kind == "predict" && !one.asked)
        one.asked = true, one.answer = e.answer, one.value = e.value, one.time = e.time;
      if (e.kind == "measured" && one.asked && !one.measured) one.measured = e.value;
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Prediction> to_ask(const Lab& lab, const std::string& task, lab::Backend backend) {
  std::vector<Prediction> all;
  if (lab.predictions.empty()) return all;
  const LabState state = state_of(lab);
  for (const Predicted& p : predictions_of(lab)) {
    if (p.asked || (!task.empty() && p.prediction.task != task) || !measured_on(lab, p.prediction, backend)) continue;
    const bool ran = std::any_of(state.tasks.begin(), state.tasks.end(), [&](const TaskState& t) {
      return t.id == p.prediction.task && t.last && !t.skipped();
    });
    if (!ran) all.push_back(p.prediction);
  }
  return all;
}

void keep_prediction(const Lab& lab, const Prediction& p, const std::string& answer, std::optional<double> value) {
  Event e{"", "predict", p.task, "", ""};
  e.question = p.id, e.answer = answer, e.value = value;
  add_event(lab.name, std::move(e));
}

std::vector<Predicted> compare_predictions(const Lab& lab, const Result& r) {
  std::vector<Predicted> told;
  if (lab.predictions.empty()) return told;
  for (Predicted& p : predictions_of(lab)) {
    if (!p.value || p.measured) continue;
    p.measured = told_by(r, p.prediction);
    if (!p.measured) continue;
    Event e{r.time, "measured", p.prediction.task, r.attempt, ""};
    e.question = p.prediction.id, e.value = p.measured;
    add_event(lab.name, std::move(e));
    told.push_back(std::move(p));
  }
  return told;
}

std::string comparison(const Predicted& p) {
  if (p.is_choice())
    return p.near() ? fmt::format("right: {}", p.answer)
                    : fmt::format("\"{}\" predicted; the answer is \"{}\"", p.answer,
                                  choice_text(p.prediction, *p.measured));
  const auto ratio = p.ratio();
  return fmt::format("{:.4g} predicted, {} {}{}", *p.value, with_unit(*p.measured, p.prediction),
                     p.prediction.metric.empty() ? "is right" : "measured",
                     ratio ? fmt::format(": ratio {:.2g}", *ratio) : "");
}

std::string comparisons_text(const std::vector<Predicted>& all) {
  if (all.empty()) return "";
  std::string out = "\n  Predicted and measured\n";
  for (const Predicted& p : all) {
    out += wrapped(fmt::format("{}: {}", p.prediction.task, comparison(p)), 3);
    if (!p.prediction.why.empty()) out += wrapped(p.prediction.why, 6);
  }
  return out;
}

Calibration calibration(const std::vector<Predicted>& all) {
  Calibration c;
  std::vector<double> ratios;
  for (const Predicted& p : all) {
    c.skipped += p.asked && !p.value;
    c.waiting += p.value && !p.measured;
    if (!p.compared()) continue;
    ++c.compared;
    c.near += p.near();
    if (const auto r = p.ratio(); r && *r > 0) ratios.push_back(*r);
  }
  if (!ratios.empty()) c.median_ratio = median(ratios);
  return c;
}

std::string calibration_text(const Calibration& c) {
  if (c.compared == 0) return "";
  return fmt::format("{} of {} prediction{} right or within a factor of 2{}", c.near, c.compared,
                     c.compared == 1 ? "" : "s",
                     c.median_ratio ? fmt::format("; median ratio {:.2g}", *c.median_ratio) : "");
}

}  // namespace ridge::loop
