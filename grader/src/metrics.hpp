// The values that goals are held against, by name (docs/metrics.md), each with a sentence on what it comes from.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "counters.hpp"
#include "lab/check.hpp"
#include "timing_record.hpp"

namespace ridge {

// What a task's goals are judged by.
struct Measured {
  lab::Work work;  // of the measured case; of the worst one, where there are several
  std::vector<lab::Bound> bounds;
  std::optional<Counted> counted;
  std::vector<Timing> timings;  // one for each measured case
};

struct MetricValue {
  std::optional<double> value;
  std::string unit, note;
  std::optional<double> best;  // the better end of the interval, where there is one
};

// Empty values: not measured. Throws Error(Exit::environment) for a metric that does not exist or has no bound.
MetricValue measure(const std::string& metric, const Measured& measured, const std::string& baseline);

}  // namespace ridge
