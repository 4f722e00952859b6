// Computes the metrics that goals name (docs/metrics.md), each with a sentence that explains its value.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/measure/counters.hpp"
#include "grader/result/timing_record.hpp"

namespace ridge {

// The measurements that a task's goals are judged by.
struct Measured {
  lab::Work work;  // of the measured case; of the worst one, where there are several
  std::vector<lab::Bound> bounds;
  std::optional<Counted> counted;
  std::vector<Timeline> ranks;   // of the counted case, where it has several
  std::vector<Timing> timings;   // one for each measured case
  std::vector<lab::Mark> marks;  // of all cases, given by the lab's check
};

struct MetricValue {
  std::optional<double> value;
  std::string unit, note;
  std::optional<double> best;  // the better end of the interval, where there is one
};

// Empty values: not measured. Throws Error(Exit::environment) for a metric that does not exist or has no bound.
MetricValue measure(const std::string& metric, const Measured& measured, const std::string& baseline);

// The metric's bound for the measured case, from check.cpp. Throws Error(Exit::environment) if there is none.
double bound_of(const std::string& metric, const Measured& measured);

// Metrics of virtual time (metrics_timeline.cpp).
bool needs_timeline(const std::string& metric);
MetricValue measure_timeline(const std::string& metric, const Measured& measured);

}  // namespace ridge
