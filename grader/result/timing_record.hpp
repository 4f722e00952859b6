// The part of the record that the timing of one measured case fills (`timing` in docs/result-format.md).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grader/base/statistics.hpp"

namespace ridge {

// The GPU during the turns, as NVML tells; empty where there is no NVML.
struct Conditions {
  std::vector<double> sm_mhz, temperature_c, power_w;  // after each turn
  std::vector<std::string> throttle;                   // reasons seen, by name
  int other_processes = 0;                             // the most at a time that used the GPU's cores
};

// The judge's own time by purpose, in seconds.
struct JudgeTime {
  double start = 0;     // of processes
  double allocate = 0;  // buffers
  double fill = 0;      // inputs, on the host
  double copy = 0;      // between host and device
  double run = 0;       // the contestants' calls, with warming up
  double verify = 0;    // outputs, on the host

  JudgeTime& operator+=(const JudgeTime& t);
};

struct Timing {
  std::string name;  // of the case, for people
  // Seconds a call, one entry a turn; reference_s is empty where the reference solution took no part.
  std::vector<double> submission_s, baseline_s, reference_s;
  std::vector<int> turn_calls;           // drawn anew for each turn
  double median = 0, low = 0, high = 0;  // of baseline / submission over the turns, 95% bootstrap interval
  Interval reference;                    // of baseline / reference
  int calls = 0;                         // of the largest turn
  double bytes = 0, operations = 0;      // a call
  double round_trip_s = 0;               // of an empty request, subtracted from each turn
  double slope_s = 0;                    // seconds a call by the slope over the number of calls: no overhead in it
  double baseline_slope_s = 0;
  std::vector<double> worker_s;  // by the worker's own events: a detail that nothing is scored by
  double alone_s = 0;            // the baseline's, before the submission's process existed
  double floor_s = 0;            // no call can take less on this machine; 0 where it is not known
  double target = 0;             // relative width of the interval asked for
  bool precise = true;           // reached, or every end of the interval earns the same points
  int repeated = 0;              // turns taken again because something disturbed them
  std::string disturbed;         // why turns that count may be off; empty: none
  Conditions conditions;
  JudgeTime judge;
};

// The one with the lowest ratio; null where there is none.
const Timing* worst_timing(const std::vector<Timing>& timings);

nlohmann::json timing_json(const Timing& timing);
nlohmann::json judge_time_json(const JudgeTime& time);

// Median of baseline/submission over the turns with its interval, and the slopes.
void summarise(Timing& timing);

}  // namespace ridge
