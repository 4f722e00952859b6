#include "grader/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks/compare.hpp"

namespace ridge {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  std::size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

Interval median_interval(const std::vector<double>& values) {
  if (values.empty()) return {};
  constexpr std::size_t kResamples = 2000;
  std::vector<double> medians, sample(values.size());
  medians.reserve(kResamples);
  for (std::size_t r = 0; r < kResamples; ++r) {
    for (std::size_t i = 0; i < values.size(); ++i) sample[i] = values[lab::random_bits(r, i) % values.size()];
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  return {median(values), medians[kResamples * 25 / 1000], medians[kResamples * 975 / 1000]};
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
    for (std::size_t k = i + 1; k < x.size() && k < y.size(); ++k)
      if (x[i] != x[k]) slopes.push_back((y[k] - y[i]) / (x[k] - x[i]));
  return median(slopes);
}

double coefficient_of_variation(const std::vector<double>& v) {
  if (v.size() < 2) return 0;
  auto n = static_cast<double>(v.size());
  double mean = std::accumulate(v.begin(), v.end(), 0.0) / n, squares = 0;
  for (double x : v) squares += (x - mean) * (x - mean);
  return mean == 0 ? 0 : std::sqrt(squares / (n - 1)) / mean;
}

bool StopRule::precise(const Interval& interval) const {
  return interval.relative_width() <= relative_width || (settled && settled(interval));
}

bool StopRule::done(const std::vector<double>& values, double seconds_so_far) const {
  auto n = static_cast<int>(values.size());
  if (n < least) return false;
  if (n >= most || seconds_so_far >= seconds) return true;
  return precise(median_interval(values));
}

}  // namespace ridge
