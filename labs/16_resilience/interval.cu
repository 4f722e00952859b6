// Lab 16, task `interval`: how often to save, and what failures cost.
// Run: ./ridge check 16 --task interval
#include <algorithm>
#include <cmath>

#include "interval.hpp"

// TASK(interval)
double mean_between_failures(const Run& run) {
  // TODO: the whole run, in seconds.
  return run.gpu_hours;
}

double expected_seconds(const Run& run, long long steps) {
  // TODO: this is the time without failures.
  return static_cast<double>(steps) * run.step + run.save;
}

double goodput(const Run& run, long long steps) {
  return static_cast<double>(steps) * run.step / expected_seconds(run, steps);
}

double young(const Run& run) {
  // TODO
  (void)run;
  return 0;
}

double daly(const Run& run) {
  // TODO
  (void)run;
  return 0;
}

long long best_steps(const Run& run) {
  // TODO: young() is near. The goodput has one maximum.
  (void)run;
  return 1;
}
// END(interval)
