// Performance on a GPU: the submission takes turns with the vendor's way, on the judge's clock.
#pragma once
#include <functional>
#include <string>

#include "device.hpp"
#include "lab/check.hpp"
#include "result.hpp"
#include "worker_process.hpp"

namespace ridge {

struct TimedRun {
  bool ok = true;
  std::string check, message;  // the gate that failed, and why
  Timing timing;
};

struct TimedOptions {
  int turns = 5;
  double limit_seconds = 60;
  std::uint64_t seed = 0;
  double min_seconds_per_turn = 0.03;  // a GPU changes between processes in about 0.4 ms
};

// Times the measured case on both workers. Every output of every timed turn is verified.
TimedRun time_against_baseline(Device& device, const lab::TaskCheck& check, const lab::Case& c,
                               WorkerProcess& submission, WorkerProcess& baseline, std::uint32_t first_id,
                               const TimedOptions& options, const std::function<std::string(const Reply&)>& explain);

// Median of baseline/submission over the turns, with a 95% bootstrap interval (2000 resamples, fixed seed).
void summarise(Timing& timing);
double median(std::vector<double> values);

}  // namespace ridge
