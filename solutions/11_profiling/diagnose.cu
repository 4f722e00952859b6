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
  const auto conflicts = [](const Line& l) { return l.shared_wavefronts - l.shared_requests; };
  const auto l1 = [](const Line& l) { return l.requests + l.shared_wavefronts; };
  const auto instructions = [](const Line& l) { return l.instructions; };
  const auto idle = [](const Line& l) { return l.instructions * (1 - l.lanes / 32); };
  const auto turns = [](const Line& l) { return l.atomic_turns; };
  const auto meetings = [](const Line& l) { return l.atomic_turns - l.atomic_requests; };

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
    case Unit::l1:
      d.cause = Cause::bank_conflicts;
      without(Unit::l1, l1, conflicts, worst(p, conflicts));
      break;
    case Unit::issue:
      d.cause = Cause::divergence;
      without(Unit::issue, instructions, idle, worst(p, idle));
      break;
    case Unit::atomics:
      d.cause = Cause::contention;
      without(Unit::atomics, turns, meetings, worst(p, meetings));
      break;
    case Unit::latency:
      d.cause = Cause::few_warps;
      d.line = worst(p, [](const Line& l) { return l.requests; }).line;
      left[static_cast<int>(Unit::latency)] *= p.occupancy;
      break;
  }
  d.bound = p.seconds / *std::max_element(left, left + kUnits);
  return d;
}

double overlap(const Span& a, const Span& b) {
  return std::max(0.0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

Diagnosis of_timeline(const Profile& p) {
  // What each span costs: the time that nothing hides.
  double cost[kSpans] = {}, of_cause[3] = {}, kernels[8] = {}, to_device = 0, to_host = 0, migrated = 0;
  const auto cause_of = [](const Span& s) {
    return s.activity == Activity::migration ? 1 : s.activity == Activity::wait ? 2 : 0;
  };
  for (int i = 0; i < p.spans; ++i) {
    const Span& s = p.span[i];
    const double length = s.end - s.start;
    if (s.activity == Activity::kernel) {
      kernels[s.rank] += length;
      continue;
    }
    cost[i] = length;
    if (s.activity == Activity::migration) kernels[s.rank] -= length, migrated += s.bytes / p.link_bandwidth;
    if (s.activity == Activity::copy_to_device) to_device += length;
    if (s.activity == Activity::copy_to_host) to_host += length;
    if (cause_of(s) == 0)
      for (int k = 0; k < p.spans; ++k)
        if (p.span[k].activity == Activity::kernel) cost[i] -= overlap(s, p.span[k]);
    cost[i] = cost[i] < 0 ? 0 : cost[i];  // kernels of several ranks may run at once
    of_cause[cause_of(s)] += cost[i];
  }
  const int cause = static_cast<int>(std::max_element(of_cause, of_cause + 3) - of_cause);
  // The line whose spans cost most together.
  int line = 0;
  double most = -1;
  for (int i = 0; i < p.spans; ++i) {
    double sum = 0;
    for (int k = 0; k < p.spans; ++k)
      if (p.span[k].line == p.span[i].line && p.span[k].activity != Activity::kernel && cause_of(p.span[k]) == cause)
        sum += cost[k];
    if (sum > most) most = sum, line = p.span[i].line;
  }
  const double longest = std::max({*std::max_element(kernels, kernels + p.ranks), to_device, to_host, migrated});
  return {line, static_cast<Cause>(static_cast<int>(Cause::exposed_copy) + cause), p.seconds / longest};
}

}  // namespace

void diagnose(const Profile* profiles, int count, Diagnosis* all) {
  for (int k = 0; k < count; ++k) all[k] = profiles[k].lines > 0 ? of_kernel(profiles[k]) : of_timeline(profiles[k]);
}
// END(diagnose)
