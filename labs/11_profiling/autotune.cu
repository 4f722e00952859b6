// Lab 11, task `autotune`: find a fast configuration of a matrix product in at most 12 measurements.
//
// The function below measures the first configurations that come. Run: ./ridge check 11 --task autotune
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "search.hpp"

// TASK(autotune)
int autotune(const Shape&, const Measure& measure) {
  // TODO: leave out what cannot run, order the rest by a model of yours, and measure where you expect most.
  int best = 0;
  double least = 1e30;
  for (int i = 0; i < kMeasurements; ++i) {
    const double seconds = measure(i);
    if (seconds < least) least = seconds, best = i;
  }
  return best;
}
// END(autotune)
