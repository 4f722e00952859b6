// Lab 16, task `interval`: how often to save, and what failures cost.
// Run: ./ridge check 16 --task interval
#include <algorithm>
#include <cmath>

#include "interval.hpp"

// TASK(interval)
double mean_between_failures(const Run& run) { return run.gpu_hours * 3600 / run.gpus; }

double expected_seconds(const Run& run, long long steps) {
  const double M = mean_between_failures(run), work = static_cast<double>(steps) * run.step + run.save;
  return M * std::exp(run.restart / M) * std::expm1(work / M);
}

double goodput(const Run& run, long long steps) {
  return static_cast<double>(steps) * run.step / expected_seconds(run, steps);
}

double young(const Run& run) { return std::sqrt(2 * run.save * mean_between_failures(run)); }

double daly(const Run& run) {
  const double M = mean_between_failures(run);
  if (run.save >= 2 * M) return M;
  const double x = std::sqrt(run.save / (2 * M));
  return young(run) * (1 + x / 3 + x * x / 9) - run.save;
}

long long best_steps(const Run& run) {
  // The goodput rises up to its maximum and falls after it: find the first step that brings no more.
  long long low = 1, high = 2;
  while (goodput(run, high + 1) > goodput(run, high)) low = high, high *= 2;
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (goodput(run, middle + 1) > goodput(run, middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
// END(interval)
