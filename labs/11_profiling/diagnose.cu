// Lab 11, task `diagnose`: from a profile to the line, the cause, and what can be gained.
//
// The functions below know one cause of nine. Run: ./ridge check 11 --task diagnose
#include <algorithm>

#include "profile.hpp"

// TASK(diagnose)
namespace {

// The line with the largest cost, and the sum over all lines.
template <class Cost>
const Line& worst(const Profile& p, Cost cost) {
  return *std::max_element(p.line, p.line + p.lines, [&](const Line& a, const Line& b) { return cost(a) < cost(b); });
}
template <class Cost>
double total(const Profile& p, Cost cost) {
  double sum = 0;
  for (int i = 0; i < p.lines; ++i) sum += cost(p.line[i]);
  return sum;
}

Diagnosis of_kernel(const Profile& p) {
  const auto sectors = [](const Line& l) { return l.sectors; };
  const auto waste = [](const Line& l) { return l.sectors - l.ideal_sectors; };
  double left[kUnits];
  std::copy(p.busy, p.busy + kUnits, left);
  Diagnosis d{};
  // Takes a line's cost out of a unit's work.
  const auto without = [&](Unit unit, auto work, auto cost, const Line& at) {
    left[static_cast<int>(unit)] *= 1 - cost(at) / total(p, work);
    d.line = at.line;
  };
  switch (static_cast<Unit>(std::max_element(left, left + kUnits) - left)) {
    case Unit::memory:
    case Unit::l2: {
      const Line& at = worst(p, waste);
      d.cause = Cause::uncoalesced;
      if (waste(at) < 0.05 * total(p, sectors)) return {worst(p, sectors).line, Cause::none, 1};
      without(Unit::memory, sectors, waste, at);
      without(Unit::l2, sectors, waste, at);
      break;
    }
    default:  // TODO: the other units
      break;
  }
  d.bound = p.seconds / *std::max_element(left, left + kUnits);
  return d;
}

double overlap(const Span& a, const Span& b) {
  return std::max(0.0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

Diagnosis of_timeline(const Profile&) {
  // TODO: what do exposed copies, migrations and waits cost, and what is left without them?
  return {};
}

}  // namespace

void diagnose(const Profile* profiles, int count, Diagnosis* all) {
  for (int k = 0; k < count; ++k) all[k] = profiles[k].lines > 0 ? of_kernel(profiles[k]) : of_timeline(profiles[k]);
}
// END(diagnose)
