#include "goodput.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::network {

Goodput goodput(const Reliability& r, int ranks, double interval) {
  Goodput g;
  if (r.gpu_hours_between_failures <= 0 || (r.save_seconds <= 0 && interval <= 0)) {  // nothing to weigh
    g.seconds_between_failures = INFINITY;
    g.interval = interval;
    if (interval > 0) g.fraction = interval / (interval + r.save_seconds);
    return g;
  }
  const double m = r.gpu_hours_between_failures * 3600 / ranks;
  g.seconds_between_failures = m;
  g.interval = interval > 0 ? interval : std::max(std::sqrt(2 * r.save_seconds * m), 1.0);
  // The expected time of an interval with its save: m e^(restart / m) (e^((interval + save) / m) - 1).
  g.fraction = g.interval / (m * std::exp(r.restart_seconds / m) * std::expm1((g.interval + r.save_seconds) / m));
  return g;
}

}  // namespace ridge::network
