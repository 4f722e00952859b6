// The comparison as Markdown for people and as JSON with every value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "grader/bench/fidelity.hpp"
#include "grader/measure/timing.hpp"

namespace ridge {

namespace {

double of(const std::map<std::string, double>& counters, const std::string& name) {
  auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

// Quantities that the emulator models rather than counts: not expected to be equal.
struct Modelled {
  const char* name;
  double (*emulator)(const FidelityRow&);
  double (*hardware)(const FidelityRow&);
};
const std::vector<Modelled>& modelled() {
  static const std::vector<Modelled> list = {
      {"sectors asked of L2", [](const FidelityRow& r) { return of(r.emulator, "ridge__bytes_l2.sum") / 32; },
       [](const FidelityRow& r) { return of(r.hardware, "lts__t_sectors_srcunit_tex.sum"); }},
      {"bytes read and written in DRAM", [](const FidelityRow& r) { return of(r.emulator, "ridge__bytes_dram.sum"); },
       [](const FidelityRow& r) {
         return of(r.hardware, "dram__bytes_read.sum") + of(r.hardware, "dram__bytes_write.sum");
       }},
      {"warp instructions", [](const FidelityRow& r) { return of(r.emulator, "ridge__warp_instructions.sum"); },
       [](const FidelityRow& r) { return of(r.hardware, "smsp__inst_executed.sum"); }},
  };
  return list;
}

// Ratios emulator / hardware of the launches in which both are known, ascending. DRAM: `time` launches alone, which the
// emulator, too, starts with a cold L2.
std::vector<double> ratios(const Fidelity& f, const Modelled& m) {
  std::vector<double> out;
  for (const FidelityRow& r : f.rows) {
    if (r.kind != "time") continue;
    double e = m.emulator(r), h = m.hardware(r);
    if (e > 0 && h > 0) out.push_back(e / h);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string count(double v) { return fmt::format("{:.0f}", v); }

std::string short_name(const std::string& metric) {
  std::string out = metric.substr(0, metric.rfind('.'));
  for (const char* part : {"l1tex__t_", "l1tex__data_", "smsp__sass_", "pipe_lsu_", "_mem"})
    if (auto at = out.find(part); at != std::string::npos) out.erase(at, std::string(part).size());
  return out;
}

std::vector<const FidelityRow*> timed(const Fidelity& f) {
  std::vector<const FidelityRow*> rows;
  for (const FidelityRow& r : f.rows)
    if (r.kind == "time" && r.virtual_us > 0 && r.measured_us > 0) rows.push_back(&r);
  std::sort(rows.begin(), rows.end(),
            [](auto* a, auto* b) { return a->virtual_us / a->measured_us < b->virtual_us / b->measured_us; });
  return rows;
}

std::string text_of(const nlohmann::json& j) { return j.is_string() ? j.get<std::string>() : j.dump(); }

}  // namespace

std::string fidelity_markdown(const Fidelity& f, const nlohmann::json& about) {
  std::string out =
      "# The emulator against NVIDIA's counters\n\nWritten by `ridge bench fidelity`.\n\n|||\n|---|---|\n";
  for (const auto& [key, value] : about.items()) {
    if (value.is_object())
      for (const auto& [inner, v] : value.items()) out += fmt::format("| {} {} | {} |\n", key, inner, text_of(v));
    else
      out += fmt::format("| {} | {} |\n", key, text_of(value));
  }
  std::set<std::string> kernels;
  for (const FidelityRow& r : f.rows) kernels.insert(r.name.substr(0, r.name.rfind('.')));
  std::size_t values = f.equal + f.known + f.unknown;
  out += fmt::format(
      "\n## Counters\n\n{} launches of {} kernels. Of {} counter values that are not zero on both sides, {} are equal "
      "to the last digit, {} differ for a known reason, {} differ without one.\n",
      f.rows.size(), kernels.size(), values, f.equal, f.known, f.unknown);
  for (const std::string& p : f.problems) out += "\n- Not compared: " + p;
  if (!f.problems.empty()) out += "\n";
  for (const std::string& m : f.missing) out += fmt::format("\nThe recording has no `{}`.\n", m);

  out += "\n| counter | values | equal | known difference | unexplained |\n|---|--:|--:|--:|--:|\n";
  for (const std::string& metric : exact_counters()) {
    std::size_t n = 0, equal = 0, known = 0;
    for (const FidelityRow& r : f.rows)
      for (const FidelityValue& v : r.values) {
        if (v.metric != metric) continue;
        ++n;
        equal += v.equal();
        known += !v.equal() && !v.reason.empty();
      }
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric, n, equal, known, n - equal - known);
  }

  out += "\n### Differences\n\n";
  if (f.known + f.unknown == 0) out += "None.\n";
  if (f.known + f.unknown != 0) {
    out += "| launch | counter | emulator | H/W | ratio | reason |\n|---|---|--:|--:|--:|---|\n";
    for (const FidelityRow& r : f.rows)
      for (const FidelityValue& v : r.values)
        if (!v.equal())
          out += fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", r.name, short_name(v.metric), count(v.emulator),
                             count(v.hardware), v.hardware == 0 ? "-" : fmt::format("{:.3f}", v.emulator / v.hardware),
                             v.reason.empty() ? "**none known**" : v.reason);
  }
  for (const KnownDifference& d : f.unused)
    out += fmt::format("\nListed as a difference, but equal here: {} {}.\n", d.launch, d.metric);

  out += "\n### Launches\n\n| launch | grid | block | values | equal |\n|---|---|---|--:|--:|\n";
  for (const FidelityRow& r : f.rows) {
    auto equal = std::count_if(r.values.begin(), r.values.end(), [](const auto& v) { return v.equal(); });
    out += fmt::format("| {} | {} | {} | {} | {} |\n", r.name, r.grid, r.block, r.values.size(), equal);
  }

  out += "\n## Modelled quantities\n\nEmulator / hardware, launches that fill the GPU.\n\n";
  out += "| quantity | launches | lowest | median | highest |\n|---|--:|--:|--:|--:|\n";
  for (const Modelled& m : modelled())
    if (auto r = ratios(f, m); !r.empty())
      out += fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", m.name, r.size(), r.front(), median(r), r.back());

  out += "\n## Time\n\n";
  const TimeStatistics& t = f.time;
  if (t.launches == 0) return out + "No measured times.\n";
  out += fmt::format(
      "Virtual time of the emulator against time on the GPU (median of 5 launches, cold L2, CUDA events), {} launches. "
      "Median of |virtual / measured - 1|: {:.0f} %. Median ratio: {:.2f}. Within a factor of 2: {:.0f} %. Rank "
      "correlation (Spearman): {:.3f}.\n\n| launch | virtual us | measured us | ratio |\n|---|--:|--:|--:|\n",
      t.launches, 100 * t.median_error, t.median_ratio, 100 * t.within_twice, t.rank_correlation);
  for (const FidelityRow* r : timed(f))
    out += fmt::format("| {} | {:.1f} | {:.1f} | {:.2f} |\n", r->name, r->virtual_us, r->measured_us,
                       r->virtual_us / r->measured_us);
  return out;
}

nlohmann::json fidelity_json(const Fidelity& f, const nlohmann::json& about) {
  nlohmann::json launches = nlohmann::json::array();
  for (const FidelityRow& r : f.rows) {
    nlohmann::json values = nlohmann::json::array();
    for (const FidelityValue& v : r.values) {
      nlohmann::json j = {
          {"metric", v.metric}, {"emulator", v.emulator}, {"hardware", v.hardware}, {"equal", v.equal()}};
      if (!v.reason.empty()) j["reason"] = v.reason;
      values.push_back(std::move(j));
    }
    nlohmann::json other = nlohmann::json::object();
    for (const Modelled& m : modelled()) other[m.name] = {{"emulator", m.emulator(r)}, {"hardware", m.hardware(r)}};
    nlohmann::json j = {{"launch", r.name},
                        {"kind", r.kind},
                        {"grid", r.grid},
                        {"block", r.block},
                        {"exact", std::move(values)},
                        {"modelled", std::move(other)}};
    if (r.virtual_us > 0) j["virtual_us"] = r.virtual_us;
    if (r.measured_us > 0) j["measured_us"] = r.measured_us;
    launches.push_back(std::move(j));
  }
  return {{"schema", "ridge.fidelity/1"},
          {"about", about},
          {"summary",
           {{"launches", f.rows.size()},
            {"equal", f.equal},
            {"known_differences", f.known},
            {"unexplained", f.unknown},
            {"problems", f.problems},
            {"missing_metrics", f.missing},
            {"time",
             {{"launches", f.time.launches},
              {"median_error", f.time.median_error},
              {"median_ratio", f.time.median_ratio},
              {"within_twice", f.time.within_twice},
              {"rank_correlation", f.time.rank_correlation}}}}},
          {"launches", std::move(launches)}};
}

}  // namespace ridge
