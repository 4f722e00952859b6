// Metrics of virtual time: what the timelines of a measured case say.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/compile/compiler.hpp"
#include "grader/measure/metrics.hpp"

namespace ridge {

namespace {

using Spans = std::vector<std::pair<double, double>>;

// When anything of this kind is going on, in order and without overlaps.
Spans busy(const Timeline& t, std::string_view kind) {
  Spans all, merged;
  for (const auto& i : t.items)
    if (i.kind == kind && i.end > i.start) all.emplace_back(i.start, i.end);
  std::sort(all.begin(), all.end());
  for (const auto& s : all) {
    if (merged.empty() || s.first > merged.back().second)
      merged.push_back(s);
    else
      merged.back().second = std::max(merged.back().second, s.second);
  }
  return merged;
}

double length(const Spans& spans) {
  double sum = 0;
  for (const auto& [start, end] : spans) sum += end - start;
  return sum;
}

double common(const Spans& a, const Spans& b) {
  double sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    sum += std::max(0.0, std::min(i->second, j->second) - std::max(i->first, j->first));
    i->second < j->second ? ++i : ++j;
  }
  return sum;
}

// Each resource's busy share of the whole time.
MetricValue virtual_time(const Measured& m) {
  const Timeline& t = m.counted->timeline;
  const double bound = bound_of("virtual_time_over_bound", m);
  std::string parts;
  for (const auto& [kind, name] : {std::pair{"h2d", "copies to the device"},
                                   {"d2h", "copies from it"},
                                   {"kernel", "kernels"},
                                   {"d2d", "copies on the device"},
                                   {"fill", "fills"},
                                   {"exchange", "messages, with waiting for peers,"},
                                   {"file", "the storage's parts and cores together"}}) {
    double sum = 0;
    for (const auto& i : t.items) sum += i.kind == kind ? i.end - i.start : 0;
    if (sum > 0) parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ", name, sum * 1e6);
  }
  return {t.seconds / bound,
          "x",
          fmt::format("{:.1f} us of virtual time, where {:.1f} would do: {}", t.seconds * 1e6, bound * 1e6,
                      parts.empty() ? "no work" : parts),
          {}};
}

// The share of what takes time (kernels or messages) that nothing of the other kind hides.
MetricValue exposed(const Timeline& t, std::string_view kind, std::string_view cover, const std::string& unit,
                    const char* told, const char* none) {
  const Spans all = busy(t, kind);
  const double time = length(all), hidden = common(all, busy(t, cover));
  if (time == 0) return {1.0, unit, none, {}};
  return {1 - hidden / time, unit, fmt::format(fmt::runtime(told), (time - hidden) * 1e6, time * 1e6), {}};
}

double bound_or_zero(std::string_view metric, const std::vector<lab::Bound>& bounds) {
  for (const lab::Bound& b : bounds)
    if (b.metric == metric) return b.value;
  return 0;
}

// Hidden kernels that nobody needs make no share smaller: where the lab says how long the task's kernels take, the
// share is of no more than that and a fifth.
MetricValue exposed_compute(const Timeline& t, const std::vector<lab::Bound>& bounds) {
  MetricValue v = exposed(t, "kernel", "exchange", "of the kernels' time",
                          "{:.1f} of {:.1f} us of kernels run while no message travels", "no kernel ran");
  const double kernels = length(busy(t, "kernel")), most = 1.2 * bound_or_zero("exposed_compute", bounds);
  if (most <= 0 || kernels <= most) return v;
  *v.value *= kernels / most;
  v.note += fmt::format(
      ". The task's kernels take {:.1f} us: the share is of {:.1f} us, a fifth more, and what runs longer makes it no "
      "smaller",
      most / 1.2 * 1e6, most * 1e6);
  return v;
}

// A kernel that only passes the time hides nothing: where the lab says how long the task's kernels take, what goes
// beyond it and a twentieth (another compiler's code) is added to what is exposed.
MetricValue exposed_messages(const Timeline& t, const std::vector<lab::Bound>& bounds) {
  MetricValue v = exposed(t, "exchange", "kernel", "of the messages' time",
                          "{:.1f} of {:.1f} us of messages travel while no kernel runs", "no message was sent");
  const double needed = bound_or_zero("exposed_messages", bounds);
  if (needed == 0) return v;
  const double messages = length(busy(t, "exchange")), kernels = length(busy(t, "kernel"));
  const double beyond = kernels - 1.05 * needed;
  if (beyond <= 0 || messages == 0) return v;
  *v.value += beyond / messages;
  v.note += fmt::format(
      ". Kernels run for {:.1f} us, and those of the task for {:.1f}: what exceeds that by more than a "
      "twentieth, {:.1f} us, counts as exposed",
      kernels * 1e6, needed * 1e6, beyond * 1e6);
  return v;
}

// How much longer the needed kernels may take than the bounds say, which Clang's code is the measure of.
double other_code() { return host_compiler().clang ? 1.015 : 1.05; }

MetricValue bubble(const Measured& m) {
  const double bound = bound_of("bubble_over_bound", m);
  double end = 0, work = 0, kernels = 0, least = 1;
  for (const Timeline& t : m.ranks) end = std::max(end, t.seconds);
  if (end == 0) return {1 / bound, "x", "no kernel ran", {}};
  std::size_t idlest = 0;
  for (std::size_t r = 0; r < m.ranks.size(); ++r) {
    const double share = length(busy(m.ranks[r], "kernel")) / end;
    kernels += share / static_cast<double>(m.ranks.size());
    if (share < least) least = share, idlest = r;
  }
  // Kernels that the task does not need fill no bubble: the two bounds say how long the needed ones take.
  const double whole = bound_or_zero("virtual_time_over_bound", m.bounds);
  const double needed = whole > 0 ? (1 - bound) * whole / end : 1;
  work = on(Defence::summed_costs) ? std::min(kernels, other_code() * needed) : kernels;
  return {
      (1 - work) / bound,
      "x",
      fmt::format("ranks run no kernel in {:.1f}% of {:.1f} us, where {:.1f}% would do; rank {} waits most, {:.1f}%{}",
                  100 * (1 - kernels), end * 1e6, 100 * bound, idlest, 100 * (1 - least),
                  work < kernels ? fmt::format(". The task's kernels take {:.1f}% of that time: what others run counts "
                                               "as waiting",
                                               100 * needed)
                                 : ""),
      {}};
}

}  // namespace

bool needs_timeline(const std::string& metric) {
  return metric == "virtual_time_over_bound" || metric == "exposed_compute" || metric == "exposed_messages" ||
         metric == "bubble_over_bound";
}

MetricValue measure_timeline(const std::string& metric, const Measured& m) {
  const Timeline& t = m.counted->timeline;
  if (metric == "virtual_time_over_bound") return virtual_time(m);
  std::uint64_t left_out = t.left_out;
  for (const Timeline& r : m.ranks) left_out = std::max(left_out, r.left_out);
  if (left_out > 0)
    return {std::nullopt, "", fmt::format("the timeline ends {} operations too early: it lists 4096", left_out), {}};
  if (metric == "exposed_compute") return exposed_compute(t, m.bounds);
  if (metric == "exposed_messages") return exposed_messages(t, m.bounds);
  return bubble(m);
}

}  // namespace ridge
