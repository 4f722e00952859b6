#include "grader/measure/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/statistics.hpp"

namespace ridge {

namespace {

constexpr double kSectorBytes = 32;
// Fewer sectors than the data itself: something that is not a counted kernel moved it.
constexpr double kImplausible = 0.98;

// Virtual times and the like below this share of the lab's bound, where the lab says nothing else.
constexpr double kLeastOfBound = 0.5;

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

// Behind a note that another sentence begins.
std::string conflicts_note(const Counted& c) {
  const LineCount* line =
      worst(c, [](const LineCount& l) { return is_global(l) ? 0.0 : static_cast<double>(l.conflicts); });
  if (line == nullptr) return {};
  return fmt::format(
      ". {}:{} {} shared memory in {:.1f} wavefronts per request, {:.1f} of them because lanes meet in one bank: "
      "rows a multiple of 32 words apart share their banks",
      line->file, line->line, line->op == "shared_ld" ? "reads" : "writes", per_request(line->wavefronts, *line),
      per_request(line->conflicts, *line));
}

// Sum of a counter over all kernels.
double total(const Counted& c, std::string_view name) {
  double sum = 0;
  for (const auto& kernel : c.kernels)
    if (auto at = kernel.counters.find(std::string(name)); at != kernel.counters.end())
      sum += static_cast<double>(at->second);
  return sum;
}

// Metrics that are sums of counters over what check.cpp says is needed: those of the usual way, and of all others that
// do the same.
struct OverBound {
  std::string_view metric;
  std::array<std::string_view, 2> counters;
  std::array<std::string_view, 4> others;
  const char* what;
};
constexpr std::string_view kLocalLoads = "ridge__requests_local_op_ld.sum",
                           kLocalStores = "ridge__requests_local_op_st.sum";
constexpr std::string_view kBulkLoads = "ridge__sectors_bulk_op_ld.sum",
                           kBulkStores = "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
                           kBulkReductions = "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum";
constexpr OverBound kOverBounds[] = {
    {"load_sectors_over_bound",
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", kBulkLoads},
     "sectors loaded from global memory"},
    {"store_sectors_over_bound",
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
      kBulkStores, kBulkReductions},
     "sectors stored to global memory"},
    {"shared_wavefronts_over_bound",
     {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
     {"ridge__shared_wavefronts_atom.sum", kLocalLoads, kLocalStores},
     "wavefronts of shared memory"},
    {"shared_requests_over_bound",
     {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum"},
     {"smsp__sass_inst_executed_op_shared_atom.sum", "ridge__stmatrix.sum", kLocalLoads, kLocalStores},
     "requests to shared memory"},
    {"barriers_over_bound", {"ridge__block_barriers.sum"}, {"ridge__memory_barriers.sum"}, "block barriers"},
    {"instructions_over_bound", {"ridge__warp_instructions.sum"}, {}, "warp instructions"},
};

// Loads of constants take a turn for each address. The first is an operand of the arithmetic that uses it.
double constant_replays(const Counted& c) {
  return std::max(0.0, total(c, "ridge__turns_constant.sum") - total(c, "ridge__requests_constant.sum"));
}

// Lanes keep their local memory side by side: 32 lanes with 4 bytes each.
constexpr double kLocalSectors = 4;

// The part of a metric that its counters leave out, in its unit, besides `others`: local memory, constants, copies by
// the runtime.
double beside_counters(std::string_view metric, const Counted& c) {
  if (metric == "load_sectors_over_bound")
    return kLocalSectors * total(c, kLocalLoads) + constant_replays(c) + c.on_device / kSectorBytes;
  if (metric == "store_sectors_over_bound")
    return kLocalSectors * total(c, kLocalStores) + (c.on_device + c.filled) / kSectorBytes;
  return metric.starts_with("shared_") ? constant_replays(c) : 0;
}

// A sentence where kernels did not move what the task must read and write, so that none of their counts says anything.
std::string implausible(const Measured& m) {
  const double needed = ideal_sectors(m.work);
  if (!on(Defence::plausible_counts) || needed <= 0 || m.counted->global_sectors >= kImplausible * needed) return {};
  return fmt::format(
      "not measured: the kernels moved only {:.2f} of the data that the task must read and write, so what they count "
      "is not the task",
      m.counted->global_sectors / needed);
}

MetricValue sectors_over_ideal(const Measured& m) {
  MetricValue v;
  v.unit = "x";
  const Counted& c = *m.counted;
  double value = c.global_sectors / ideal_sectors(m.work);
  double other = on(Defence::all_ways)
                     ? (kLocalSectors * (total(c, kLocalLoads) + total(c, kLocalStores)) + constant_replays(c)) /
                           ideal_sectors(m.work)
                     : 0;
  double copied = (2 * c.on_device + c.filled) / kSectorBytes / ideal_sectors(m.work);
  if (!on(Defence::counted_copies)) {
    v.value = std::max(value, 1.0);
  } else if (value < kImplausible) {
    v.note = value == 0 ? "no kernel moved any of the data: what the task computes is a kernel's work, not the host's"
                        : fmt::format(
                              "the kernels moved only {:.2f} of the data: a copy by the runtime (cudaMemcpy) "
                              "is not a kernel's work",
                              value);
  } else {
    v.value = value + other + copied;
    v.note = sectors_note(c, m.work);
  }
  return v;
}

MetricValue conflicts_over_bound(const Measured& m) {
  const Counted& c = *m.counted;
  const double bound = bound_of("conflicts_over_bound", m);
  const double extra = c.shared_conflicts + (on(Defence::all_ways) ? constant_replays(c) : 0);
  if (!on(Defence::summed_costs)) return {c.shared_requests > 0 ? extra / c.shared_requests : 0, "x", "", {}};
  return {
      extra / bound,
      "x",
      fmt::format("bank conflicts add {:.0f} wavefronts of shared memory, where {:.0f} wavefronts in all would do{}",
                  extra, bound, conflicts_note(c)),
      {}};
}

MetricValue idle_lanes_over_bound(const Measured& m) {
  const Counted& c = *m.counted;
  const double bound = bound_of("idle_lanes_over_bound", m);
  const double warps = total(c, "ridge__warp_instructions.sum"), lanes = total(c, "ridge__lane_instructions.sum") / 32;
  const double idle = std::max(0.0, warps - lanes);
  if (!on(Defence::summed_costs)) return {warps > 0 ? idle / warps : 0, "x", "", {}};
  return {idle / bound,
          "x",
          fmt::format("a warp runs each side of a branch that its lanes disagree on: its idle lanes add up to {:.0f} "
                      "instructions of a warp, where {:.0f} in all would do",
                      idle, bound),
          {}};
}

// A kernel ends with its slowest thread. Work that all threads do makes the difference no smaller.
MetricValue tail_over_bound(const Measured& m) {
  const double bound = bound_of("tail_over_bound", m);
  double tail = 0;
  for (const KernelCount& k : m.counted->kernels) {
    auto value = [&k](const char* name) {
      const auto it = k.counters.find(name);
      return it == k.counters.end() ? 0.0 : static_cast<double>(it->second);
    };
    const double threads = 32 * value("ridge__warps.sum");
    const double mean = threads > 0 ? value("ridge__lane_instructions.sum") / threads * k.launches : 0;
    tail += std::max(0.0, value("ridge__longest_thread_instructions.max") - mean);
  }
  return {tail / bound,
          "x",
          fmt::format("one thread executes {:.0f} instructions more than the mean of its kernel, where {:.0f} would do",
                      tail, bound),
          {}};
}

MetricValue over_bound(const OverBound& o, const Measured& m) {
  double sum = 0;
  for (auto name : o.counters)
    if (!name.empty()) sum += total(*m.counted, name);
  if (on(Defence::all_ways)) {
    for (auto name : o.others)
      if (!name.empty()) sum += total(*m.counted, name);
    sum += beside_counters(o.metric, *m.counted);
  }
  const double bound = bound_of(std::string(o.metric), m);
  return {sum / bound, "x", fmt::format("{:.0f} {}, where {:.0f} would do", sum, o.what, bound), {}};
}

// " (1 kernel, 2 fills, 1 copy)", where kernels are not all.
std::string kinds_of_launches(const Timeline& t) {
  if (t.graphs_made > 0 || t.left_out > 0 || static_cast<double>(t.items.size()) != t.launches) return {};
  std::size_t kernels = 0, fills = 0, copies = 0;
  for (const Timeline::Item& i : t.items) {
    if (i.kind == "kernel") ++kernels;
    if (i.kind == "fill") ++fills;
    if (i.kind == "h2d" || i.kind == "d2h" || i.kind == "d2d") ++copies;
  }
  if (kernels == t.items.size() || kernels + fills + copies != t.items.size()) return {};
  std::string text;
  for (const auto& [count, one, more] :
       {std::tuple{kernels, "kernel", "kernels"}, {fills, "fill", "fills"}, {copies, "copy", "copies"}})
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : more);
  return " (" + text + ")";
}

MetricValue launches(const Measured& m) {
  const double n = m.counted->timeline.launches, bound = bound_of("launches_over_bound", m);
  return {n / bound,
          "x",
          fmt::format("{:.0f} launches by the host{}, where {:.0f} would do", n, kinds_of_launches(m.counted->timeline),
                      bound),
          {}};
}

MetricValue ratio_to_baseline(const Measured& m, const std::string& baseline) {
  MetricValue v;
  const Timing& worst = *worst_timing(m.timings);
  v.unit = "x " + baseline;
  v.value = worst.median;
  v.best = worst.high;
  const double seconds = median(worst.submission_s);
  v.note = m.work.operation_unit == "flop" && worst.operations > 0
               ? fmt::format("{:.1f} TFLOP/s", worst.operations / seconds / 1e12)
               : fmt::format("{:.0f} GB/s", worst.bytes / seconds / 1e9);
  v.note += fmt::format("; 95% interval [{:.3f}, {:.3f}]", worst.low, worst.high);
  if (m.timings.size() > 1) {
    v.note += "; the worst of";
    for (const Timing& t : m.timings)
      v.note += fmt::format(" {}: {:.3f}{}", t.name, t.median, &t == &m.timings.back() ? "" : ",");
  }
  if (!worst.reference_s.empty())
    v.note += fmt::format("; the reference solution reaches {:.3f}", worst.reference.median);
  if (!worst.disturbed.empty()) v.note += "; disturbed: " + worst.disturbed;
  if (!worst.precise) v.note += fmt::format("; wider than the {:.0f}% asked for", 100 * worst.target);
  return v;
}

}  // namespace

double bound_of(const std::string& metric, const Measured& m) {
  for (const auto& b : m.bounds)
    if (b.metric == metric && b.value > 0) return b.value;
  throw Error(Exit::environment, "the lab's check.cpp gives no bound for '" + metric + "'", "see TaskCheck::bounds");
}

namespace {

// A value far below the lab's bound: the work was done by something that is not seen.
MetricValue believed(const std::string& metric, const Measured& m, MetricValue v) {
  double least = metric == "virtual_time_over_bound" || metric == "bubble_over_bound" ? kLeastOfBound : 0;
  for (const auto& b : m.bounds)
    if (b.metric == metric && b.least > 0) least = b.least;
  if (!on(Defence::plausible_counts) || !v.value || *v.value >= least) return v;
  v.note = fmt::format("not measured: {:.3f} of what a well-made solution needs, and less than {:g} cannot be: {}",
                       *v.value, least, v.note);
  v.value.reset();
  return v;
}

}  // namespace

MetricValue measure(const std::string& metric, const Measured& m, const std::string& baseline) {
  if (m.counted) {
    if (metric == "sectors_over_ideal") return sectors_over_ideal(m);
    if (metric == "launches_over_bound") return launches(m);
    if (needs_timeline(metric)) return believed(metric, m, measure_timeline(metric, m));
    if (std::string why = implausible(m); !why.empty()) return {std::nullopt, "", why, {}};
    if (metric == "conflicts_over_bound") return conflicts_over_bound(m);
    if (metric == "idle_lanes_over_bound") return idle_lanes_over_bound(m);
    if (metric == "tail_over_bound") return tail_over_bound(m);
    for (const OverBound& o : kOverBounds)
      if (o.metric == metric) return believed(metric, m, over_bound(o, m));
  }
  if (metric == "ratio_to_baseline" && !m.timings.empty()) return ratio_to_baseline(m, baseline);
  throw Error(Exit::environment, "unknown metric '" + metric + "' in lab.toml", "docs/metrics.md lists them");
}

}  // namespace ridge
