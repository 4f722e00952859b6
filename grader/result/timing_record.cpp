#include "grader/result/timing_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ridge {

namespace {

std::vector<double> ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> r;
  for (std::size_t i = 0; i < over.size() && i < under.size(); ++i) r.push_back(over[i] / under[i]);
  return r;
}

// The slope of a turn's seconds over its calls.
double slope_of(const std::vector<double>& seconds_a_call, const std::vector<int>& calls) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < seconds_a_call.size() && i < calls.size(); ++i) {
    x.push_back(calls[i]);
    y.push_back(seconds_a_call[i] * calls[i]);
  }
  return slope(x, y);
}

nlohmann::json interval_json(const Interval& i) { return {{"median", i.median}, {"low", i.low}, {"high", i.high}}; }

}  // namespace

const Timing* worst_timing(const std::vector<Timing>& timings) {
  auto at = std::min_element(timings.begin(), timings.end(), [](auto& a, auto& b) { return a.median < b.median; });
  return at == timings.end() ? nullptr : &*at;
}

JudgeTime& JudgeTime::operator+=(const JudgeTime& t) {
  start += t.start, allocate += t.allocate, fill += t.fill, copy += t.copy, run += t.run, verify += t.verify;
  return *this;
}

nlohmann::json judge_time_json(const JudgeTime& t) {
  return {{"start", t.start}, {"allocate", t.allocate}, {"fill", t.fill},
          {"copy", t.copy},   {"run", t.run},           {"verify", t.verify}};
}

void summarise(Timing& t) {
  Interval i = median_interval(ratios(t.baseline_s, t.submission_s));
  t.median = i.median;
  t.low = i.low;
  t.high = i.high;
  t.reference = median_interval(ratios(t.baseline_s, t.reference_s));
  t.slope_s = slope_of(t.submission_s, t.turn_calls);
  t.baseline_slope_s = slope_of(t.baseline_s, t.turn_calls);
}

nlohmann::json timing_json(const Timing& t) {
  nlohmann::json j = {{"case", t.name},
                      {"submission_s", t.submission_s},
                      {"baseline_s", t.baseline_s},
                      {"turn_calls", t.turn_calls},
                      {"ratio", interval_json({t.median, t.low, t.high})},
                      {"calls", t.calls},
                      {"bytes", t.bytes},
                      {"operations", t.operations},
                      {"round_trip_s", t.round_trip_s},
                      {"slope_s", t.slope_s},
                      {"baseline_slope_s", t.baseline_slope_s},
                      {"worker_s", t.worker_s},
                      {"alone_s", t.alone_s},
                      {"floor_s", t.floor_s > 0 ? nlohmann::json(t.floor_s) : nlohmann::json(nullptr)},
                      {"target", t.target},
                      {"precise", t.precise},
                      {"repeated", t.repeated},
                      {"disturbed", t.disturbed}};
  if (!t.reference_s.empty()) {
    j["reference_s"] = t.reference_s;
    j["reference_ratio"] = interval_json(t.reference);
  }
  j["conditions"] = {{"sm_mhz", t.conditions.sm_mhz},
                     {"temperature_c", t.conditions.temperature_c},
                     {"power_w", t.conditions.power_w},
                     {"throttle", t.conditions.throttle},
                     {"other_processes", t.conditions.other_processes}};
  return j;
}

}  // namespace ridge
