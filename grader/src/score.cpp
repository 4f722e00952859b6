#include "score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "defence.hpp"
#include "error.hpp"
#include "statistics.hpp"

namespace ridge {

namespace {

constexpr double kSectorBytes = 32;
// Fewer sectors than the data itself: something that is not a counted kernel moved it.
constexpr double kImplausible = 0.98;

double ideal_sectors(const lab::Work& w) { return (w.bytes_read + w.bytes_written) / kSectorBytes; }

// The source line that causes most of a cost.
const LineCount* worst(const Counted& c, double (*cost)(const LineCount&)) {
  const LineCount* found = nullptr;
  for (const auto& kernel : c.kernels)
    for (const auto& line : kernel.lines)
      if (cost(line) > 0 && (found == nullptr || cost(line) > cost(*found))) found = &line;
  return found;
}

bool is_global(const LineCount& l) { return l.op.rfind("global", 0) == 0; }

double waste(const LineCount& l) { return static_cast<double>(l.sectors) - static_cast<double>(l.ideal_sectors); }

double per_request(std::uint64_t n, const LineCount& l) {
  return l.requests == 0 ? 0 : static_cast<double>(n) / static_cast<double>(l.requests);
}

std::string sectors_note(const Counted& c, const lab::Work& work) {
  const LineCount* line = worst(c, [](const LineCount& l) { return is_global(l) ? waste(l) : 0.0; });
  double extra = line != nullptr ? waste(*line) : 0;
  if (line != nullptr && extra > 0.02 * ideal_sectors(work))
    return fmt::format(
        "{}:{} {} {:.1f} sectors per request where {:.1f} would do: neighbouring lanes do not {} neighbouring "
        "addresses",
        line->file, line->line, line->op == "global_ld" ? "loads" : "stores", per_request(line->sectors, *line),
        per_request(line->ideal_sectors, *line), line->op == "global_ld" ? "read" : "write");
  if (c.on_device + c.filled > 0.02 * (work.bytes_read + work.bytes_written))
    return fmt::format("{:.0f} bytes were moved by cudaMemcpy and cudaMemset beside the kernels' work",
                       2 * c.on_device + c.filled);
  return fmt::format(
      "the kernels move {:.2f} times the bytes that the task needs: data is read or written more than once",
      c.global_sectors / ideal_sectors(work));
}

std::string conflicts_note(const Counted& c) {
  const LineCount* line =
      worst(c, [](const LineCount& l) { return is_global(l) ? 0.0 : static_cast<double>(l.conflicts); });
  if (line == nullptr) return {};
  return fmt::format(
      "{}:{} {} shared memory in {:.1f} passes per request, {:.1f} of them because lanes meet in one bank: rows a "
      "multiple of 32 words apart share their banks",
      line->file, line->line, line->op == "shared_ld" ? "reads" : "writes", per_request(line->wavefronts, *line),
      per_request(line->conflicts, *line));
}

struct Value {
  std::optional<double> value;
  std::string unit, note;
  std::optional<double> best;  // the better end of the interval, where there is one
};

Value measure(const std::string& metric, const Measured& m) {
  Value v;
  if (metric == "sectors_over_ideal" && m.counted) {
    v.unit = "x";
    const Counted& c = *m.counted;
    double value = c.global_sectors / ideal_sectors(m.work);
    double copied = (2 * c.on_device + c.filled) / kSectorBytes / ideal_sectors(m.work);
    if (!on(Defence::counted_copies)) {
      v.value = std::max(value, 1.0);
    } else if (value < kImplausible) {
      v.note = fmt::format(
          "the kernels moved only {:.2f} of the data: a copy by the runtime (cudaMemcpy) is not a kernel's work",
          value);
    } else {
      v.value = value + copied;
      v.note = sectors_note(*m.counted, m.work);
    }
  } else if (metric == "conflicts_per_request" && m.counted) {
    v.unit = "per request";
    v.value = m.counted->shared_requests > 0 ? m.counted->shared_conflicts / m.counted->shared_requests : 0;
    v.note = conflicts_note(*m.counted);
  } else if (metric == "ratio_to_baseline" && m.timing) {
    v.unit = "x cudaMemcpy";
    v.value = m.timing->median;
    v.best = m.timing->high;
    double rate = m.timing->bytes / median(m.timing->submission_s);
    v.note = fmt::format("{:.0f} GB/s; 95% interval [{:.3f}, {:.3f}]", rate / 1e9, m.timing->low, m.timing->high);
    if (!m.timing->disturbed.empty()) v.note += "; disturbed: " + m.timing->disturbed;
    if (!m.timing->precise) v.note += fmt::format("; wider than the {:.0f}% asked for", 100 * m.timing->target);
  } else {
    throw Error(Exit::environment, "unknown metric '" + metric + "' in lab.toml", "docs/metrics.md lists them");
  }
  return v;
}

}  // namespace

double points_for(const Goal& g, double value) {
  double span = g.full - g.zero;
  double fraction = span == 0 ? (value == g.full ? 1 : 0) : (value - g.zero) / span;
  return g.points * std::clamp(fraction, 0.0, 1.0);
}

void score_goals(TaskResult& task, const Task& spec, const std::string& backend, const Measured& measured,
                 bool correct) {
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
      Value v = measure(g.metric, measured);
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
