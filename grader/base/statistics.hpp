// Statistics of repeated measurements. All are robust: a single disturbed turn moves none of them far.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace ridge {

double median(std::vector<double> values);

struct Interval {
  double median = 0, low = 0, high = 0;
  // Width over the median; 0 values give 1, so that nothing unmeasured looks precise.
  double relative_width() const { return median > 0 ? (high - low) / median : 1; }
};

// Median with its 95% bootstrap interval: percentiles of the medians of 2000 resamples (Efron 1979). The resamples are
// the same in every run, so that a record's interval can be computed again from its values.
Interval median_interval(const std::vector<double>& values);

// Slope of y over x: the median over all pairs with different x (Theil 1950, Sen 1968). 0 where all x are equal.
double slope(const std::vector<double>& x, const std::vector<double>& y);

// Standard deviation over mean, in a sample; 0 for fewer than two values.
double coefficient_of_variation(const std::vector<double>& values);

// When to stop repeating.
struct StopRule {
  int least = 5, most = 15;   // repetitions
  double seconds = 10;        // no further repetition starts after these, once there are `least`
  double relative_width = 0;  // of the interval, the target
  // Whether an interval is good enough however wide it is. Empty: never.
  std::function<bool(const Interval&)> settled = {};

  bool precise(const Interval& interval) const;
  bool done(const std::vector<double>& values, double seconds_so_far) const;
};

}  // namespace ridge
