#include "roofline/scene.hpp"

#include <algorithm>
#include <set>

namespace ridge::viz {
namespace {

// The file's roofs, each replaced by the calibration's where one is open, and the calibration's other roofs that apply
// to the file's operations.
std::vector<Ceiling> merged(const Result& r, const std::vector<Ceiling>& calibrated) {
  std::set<std::string> units;
  for (const Task& t : r.tasks)
    if (t.roofline) units.insert(t.roofline->operation_unit + "/s");
  std::vector<Ceiling> all;
  for (const Ceiling& c : calibrated)
    if (c.kind == CeilingKind::bandwidth || units.empty() || units.count(c.unit)) all.push_back(c);
  for (const Ceiling& c : r.ceilings)
    if (std::none_of(all.begin(), all.end(), [&](const Ceiling& x) { return x.id == c.id; })) all.push_back(c);
  return all;
}

}  // namespace

Scene::Scene(const std::vector<Group>& all, const std::vector<Ceiling>& calibrated, const Chosen& chosen)
    : groups(all),
      group(all[chosen.group]),
      result(group.attempts[chosen.shown]),
      ceilings(merged(result, calibrated)),
      roofs(roofs_of(ceilings, chosen.precision, fastest(group))),
      dots(dots_of(group, chosen.shown, roofs)) {}

bool Scene::mixed_units() const {
  return std::any_of(dots.begin(), dots.end(), [&](const Dot& d) { return d.point.unit != dots[0].point.unit; });
}

const Dot* Scene::dot(std::size_t attempt, const std::string& task) const {
  for (const Dot& d : dots)
    if (d.rival == Rival::none && d.attempt == attempt && d.task == task) return &d;
  return nullptr;
}

}  // namespace ridge::viz
