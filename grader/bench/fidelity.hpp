// The emulator's counts beside a GPU's: what is equal, what is not and why, and how well times agree.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/bench/ncu_csv.hpp"

namespace ridge {

// One launch on either side. `name` is "KERNEL.N", N counting the launches of that kernel.
struct FidelityLaunch {
  std::string name, kernel, grid, block;
  std::map<std::string, double> counters;
  std::string kind;  // "count" or "time"; empty: not known
  double us = 0;     // 0: not known
};

// A difference that is known: patterns with * for launch and metric.
struct KnownDifference {
  std::string launch, metric, reason;
  std::string kind;   // only launches of this kind; empty: all
  double within = 0;  // explains only values this close: |emulator / hardware - 1|; 0: any
  bool used = false;
};

struct FidelityValue {
  std::string metric;
  double emulator = 0, hardware = 0;
  std::string reason;  // of a known difference
  bool equal() const { return emulator == hardware; }
};

struct FidelityRow {
  std::string name, kind, grid, block;
  std::vector<FidelityValue> values;  // exact counters that are not zero on both sides
  double virtual_us = 0, measured_us = 0;
  std::map<std::string, double> emulator, hardware;  // all counters
};

struct TimeStatistics {
  std::size_t launches = 0;
  double median_error = 0;      // of |virtual / measured - 1|
  double median_ratio = 0;      // virtual / measured
  double rank_correlation = 0;  // Spearman
  double within_twice = 0;      // share of launches whose ratio is between 1/2 and 2
};

struct Fidelity {
  std::vector<FidelityRow> rows;
  std::vector<std::string>
      problems;  // launches that are missing, shapes that differ: the recording is of other sources
  std::vector<KnownDifference> unused;  // known differences that did not show
  std::vector<std::string> missing;     // exact counters that the recording does not have
  std::size_t equal = 0, known = 0, unknown = 0;
  TimeStatistics time;
  bool passed() const { return unknown == 0 && problems.empty(); }
};

// Counters that must be equal to the last digit.
const std::vector<std::string>& exact_counters();

// Takes the launches from the content of the file that RIDGE_COUNTERS names. Kernels whose name starts with "init_"
// are left out.
std::vector<FidelityLaunch> emulator_launches(const nlohmann::json& counters);
std::vector<FidelityLaunch> hardware_launches(const std::vector<NcuLaunch>& launches);

// Lines {"launch": ..., "kind": ..., "us": ...} of a program's output; other lines are skipped.
struct LaunchTime {
  std::string kind;
  double us = 0;
};
std::map<std::string, LaunchTime> parse_times(const std::string& text);

// Without those of another compiler than `compiler` ("clang++ 14.0.6"): an entry's "compiler" is how its name begins.
std::vector<KnownDifference> load_differences(const std::string& toml_text, const std::string& file,
                                              const std::string& compiler);

// `all`: the emulator ran every program, so a launch that only the recording has is a problem.
Fidelity compare(const std::vector<FidelityLaunch>& emulator, const std::vector<FidelityLaunch>& hardware,
                 const std::map<std::string, LaunchTime>& virtual_times,
                 const std::map<std::string, LaunchTime>& measured_times, std::vector<KnownDifference> differences,
                 bool all);

bool matches(const std::string& pattern, const std::string& text);
// Both of equal length; equal values share the mean of their ranks. 0 for fewer than two.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

std::string fidelity_markdown(const Fidelity& fidelity, const nlohmann::json& about);
nlohmann::json fidelity_json(const Fidelity& fidelity, const nlohmann::json& about);

}  // namespace ridge
