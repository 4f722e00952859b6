#include "grader/bench/fidelity.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "grader/base/error.hpp"
#include "grader/measure/timing.hpp"

namespace ridge {

namespace {

bool is_setup(const std::string& kernel) { return kernel.rfind("init_", 0) == 0; }

bool explains(const KnownDifference& d, const std::string& kind, const FidelityValue& v) {
  if (!d.kind.empty() && d.kind != kind) return false;
  return d.within == 0 || std::abs(v.emulator - v.hardware) <= d.within * v.hardware;
}

// Gives every launch its name, and leaves setup kernels out.
std::vector<FidelityLaunch> named(std::vector<FidelityLaunch> launches) {
  std::map<std::string, int> seen;
  std::vector<FidelityLaunch> out;
  for (FidelityLaunch& l : launches) {
    if (is_setup(l.kernel)) continue;
    l.name = fmt::format("{}.{}", l.kernel, ++seen[l.kernel]);
    out.push_back(std::move(l));
  }
  return out;
}

std::string shape(const nlohmann::json& v) {
  return fmt::format("{}x{}x{}", v.at(0).get<unsigned>(), v.at(1).get<unsigned>(), v.at(2).get<unsigned>());
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = (static_cast<double>(i + end) - 1) / 2;
    i = end;
  }
  return rank;
}

TimeStatistics time_statistics(const std::vector<FidelityRow>& rows) {
  TimeStatistics s;
  std::vector<double> modelled, measured, errors, ratios;
  for (const FidelityRow& r : rows) {
    if (r.kind != "time" || r.virtual_us <= 0 || r.measured_us <= 0) continue;
    double ratio = r.virtual_us / r.measured_us;
    modelled.push_back(r.virtual_us);
    measured.push_back(r.measured_us);
    ratios.push_back(ratio);
    errors.push_back(std::abs(ratio - 1));
    s.within_twice += ratio >= 0.5 && ratio <= 2 ? 1 : 0;
  }
  s.launches = ratios.size();
  if (s.launches == 0) return s;
  s.within_twice /= static_cast<double>(s.launches);
  s.median_error = median(errors);
  s.median_ratio = median(ratios);
  s.rank_correlation = spearman(modelled, measured);
  return s;
}

}  // namespace

const std::vector<std::string>& exact_counters() {
  static const std::vector<std::string> names = {
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
      "smsp__sass_inst_executed_op_shared_ld.sum",
      "smsp__sass_inst_executed_op_shared_st.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
      "smsp__sass_inst_executed_op_tma_ld.sum",
      "smsp__sass_inst_executed_op_tma_st.sum",
      "smsp__sass_inst_executed_op_tma_red.sum",
      "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum",
      "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
      "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum",
      "sm__inst_executed_pipe_tensor_op_gmma.sum",
  };
  return names;
}

std::vector<FidelityLaunch> emulator_launches(const nlohmann::json& counters) {
  std::vector<FidelityLaunch> launches;
  for (const auto& l : counters.at("launches")) {
    FidelityLaunch launch;
    launch.kernel = bare_kernel_name(l.at("kernel").get<std::string>());
    launch.grid = shape(l.at("grid"));
    launch.block = shape(l.at("block"));
    for (const auto& [name, value] : l.at("counters").items())
      if (value.is_number()) launch.counters[name] = value.get<double>();
    launches.push_back(std::move(launch));
  }
  return named(std::move(launches));
}

std::vector<FidelityLaunch> hardware_launches(const std::vector<NcuLaunch>& recorded) {
  std::vector<FidelityLaunch> launches;
  for (const NcuLaunch& l : recorded) launches.push_back({"", l.kernel, l.grid, l.block, l.metrics, "", 0});
  return named(std::move(launches));
}

std::map<std::string, LaunchTime> parse_times(const std::string& text) {
  std::map<std::string, LaunchTime> times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto j = nlohmann::json::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("launch") || !j.contains("us")) continue;
    times[j["launch"].get<std::string>()] = {j.value("kind", ""), j["us"].get<double>()};
  }
  return times;
}

std::vector<KnownDifference> load_differences(const std::string& toml_text, const std::string& file,
                                              const std::string& compiler) {
  std::vector<KnownDifference> out;
  try {
    toml::table table = toml::parse(toml_text, file);
    const toml::array* list = table["difference"].as_array();
    if (list == nullptr) return out;
    for (const toml::node& node : *list) {
      const toml::table* t = node.as_table();
      auto field = [&](const char* key) {
        std::string value = t == nullptr ? "" : (*t)[key].value_or(std::string());
        if (value.empty())
          throw Error(Exit::usage, fmt::format("{}: a [[difference]] has no {}", file, key),
                      "each has launch, metric and reason");
        return value;
      };
      if (const auto only = (*t)["compiler"].value_or(std::string()); compiler.rfind(only, 0) != 0) continue;
      out.push_back({field("launch"), field("metric"), field("reason"), (*t)["kind"].value_or(std::string()),
                     (*t)["within"].value_or(0.0)});
    }
  } catch (const toml::parse_error& e) {
    throw Error(Exit::usage, fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()), "mend the file");
  }
  return out;
}

Fidelity compare(const std::vector<FidelityLaunch>& emulator, const std::vector<FidelityLaunch>& hardware,
                 const std::map<std::string, LaunchTime>& virtual_times,
                 const std::map<std::string, LaunchTime>& measured_times, std::vector<KnownDifference> differences,
                 bool all) {
  Fidelity f;
  std::map<std::string, const FidelityLaunch*> recorded;
  std::map<std::string, bool> have;
  for (const FidelityLaunch& l : hardware) {
    if (!recorded.emplace(l.name, &l).second) f.problems.push_back(l.name + " is in the recording twice");
    for (const auto& [metric, value] : l.counters) have[metric] = true;
  }
  for (const std::string& metric : exact_counters())
    if (!hardware.empty() && !have[metric]) f.missing.push_back(metric);

  for (const FidelityLaunch& l : emulator) {
    FidelityRow row;
    row.name = l.name;
    row.grid = l.grid;
    row.block = l.block;
    row.emulator = l.counters;
    if (auto t = virtual_times.find(l.name); t != virtual_times.end()) {
      row.kind = t->second.kind;
      row.virtual_us = t->second.us;
    }
    if (auto t = measured_times.find(l.name); t != measured_times.end()) row.measured_us = t->second.us;
    auto found = recorded.find(l.name);
    if (found == recorded.end()) {
      f.problems.push_back(l.name + " is not in the recording");
      f.rows.push_back(std::move(row));
      continue;
    }
    const FidelityLaunch& h = *found->second;
    recorded.erase(found);
    row.hardware = h.counters;
    if ((!h.grid.empty() && h.grid != l.grid) || (!h.block.empty() && h.block != l.block)) {
      f.problems.push_back(fmt::format("{} was recorded with grid {} block {}, but runs with grid {} block {} now",
                                       l.name, h.grid, h.block, l.grid, l.block));
      f.rows.push_back(std::move(row));
      continue;
    }
    for (const std::string& metric : exact_counters()) {
      auto e = l.counters.find(metric), m = h.counters.find(metric);
      if (m == h.counters.end()) continue;
      FidelityValue value{metric, e == l.counters.end() ? 0 : e->second, m->second, ""};
      if (value.emulator == 0 && value.hardware == 0) continue;
      if (value.equal()) {
        ++f.equal;
      } else {
        for (KnownDifference& d : differences) {
          if (!matches(d.launch, l.name) || !matches(d.metric, metric) || !explains(d, row.kind, value)) continue;
          value.reason = d.reason;
          d.used = true;
          break;
        }
        ++(value.reason.empty() ? f.unknown : f.known);
      }
      row.values.push_back(std::move(value));
    }
    f.rows.push_back(std::move(row));
  }
  if (all)
    for (const auto& [name, launch] : recorded) f.problems.push_back(name + " is in the recording only");
  if (all)
    for (const KnownDifference& d : differences)
      if (!d.used) f.unused.push_back(d);
  f.time = time_statistics(f.rows);
  return f;
}

bool matches(const std::string& pattern, const std::string& text) {
  std::size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.size() < 2) return 0;
  std::vector<double> x = ranks(a), y = ranks(b);
  double mean = static_cast<double>(a.size() - 1) / 2, xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

}  // namespace ridge
