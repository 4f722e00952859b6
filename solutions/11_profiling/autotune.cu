// Lab 11, task `autotune`: find a fast configuration of a matrix product in at most 12 measurements.
//
// The function below measures the first configurations that come. Run: ./ridge check 11 --task autotune
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "search.hpp"

// TASK(autotune)
namespace {

constexpr int kFamilies = 8;  // of which one configuration each is measured first

// Blocks that an SM holds; 0: the configuration cannot run.
int resident(const Config& c) {
  const int threads = threads_of(c), registers = (registers_of(c) + 7) / 8 * 8;
  if (threads < 32 || threads > 1024 || shared_of(c) > 227 * 1024) return 0;
  const int warps = (threads + 31) / 32;
  return std::min({64 / warps, 32, 228 * 1024 / (shared_of(c) + 1024), 65536 / 4 / (32 * registers) * 4 / warps});
}

double cube(double x) { return x * x * x; }

// A guess of the time, in cycles: the busiest SM's blocks, step by step, and what their copies do not hide.
double guess(const Shape& s, const Config& c) {
  auto over = [](int a, int b) { return (a + b - 1) / b; };
  const double of_sm = over(over(s.m, c.tile_m) * over(s.n, c.tile_n), 132), steps = over(s.k, c.tile_k);
  const double together = std::min<double>(resident(c), of_sm), products = 1.0 * c.tile_m * c.tile_n * c.tile_k;
  const double arithmetic = products / 128 / std::min(1.0, together * threads_of(c) / 256);
  const double reads = products * (1.0 / c.thread_m + 1.0 / c.thread_n) / 64;
  const double strips = (c.tile_m + c.tile_n) * c.tile_k * 4 / 21.0;  // 5.5 TB/s of L2: 21 bytes a cycle and SM
  const double step = std::cbrt(cube(arithmetic) + cube(reads) + cube(strips));  // near limits add up
  const double waits = std::max(0.0, 1000 - step * (together * c.stages - 1)) + 40;
  return of_sm * (steps * (step + waits / together) + 1000 / together);  // the first strip hides behind nothing
}

// A family has one tile, tile_k and side, and four numbers of stages (config_of in search.hpp).
int family(int i) { return i / 4; }

}  // namespace

int autotune(const Shape& shape, const Measure& measure) {
  double guessed[kConfigs];
  bool open[kConfigs];  // can run, and was not measured
  for (int i = 0; i < kConfigs; ++i) {
    open[i] = resident(config_of(i)) > 0;
    guessed[i] = open[i] ? guess(shape, config_of(i)) : 0;
  }
  int best = -1;
  double least = 0, of_family[kConfigs / 4];  // the least seconds measured
  std::fill(std::begin(of_family), std::end(of_family), INFINITY);
  for (int count = 0; count < kMeasurements; ++count) {
    // Guesses err alike within a family. So first the best guess of each, and then what is left of the fastest ones.
    int next = -1;
    std::pair<double, double> first;
    for (int i = 0; i < kConfigs; ++i) {
      const bool known = of_family[family(i)] < INFINITY;
      if (!open[i] || (known && count < kFamilies)) continue;
      const std::pair<double, double> rank{known ? of_family[family(i)] : INFINITY, guessed[i]};
      if (next < 0 || rank < first) next = i, first = rank;
    }
    if (next < 0) break;
    const double seconds = measure(next);
    open[next] = false;
    of_family[family(next)] = std::min(of_family[family(next)], seconds);
    if (best < 0 || seconds < least) best = next, least = seconds;
  }
  return best;
}
// END(autotune)
