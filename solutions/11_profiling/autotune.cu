// Lab 11, task `autotune`: find a fast configuration of a matrix product in at most 12 measurements.
//
// The function below measures the first configurations that come. Run: ./ridge check 11 --task autotune
#include <algorithm>
#include <cmath>

#include "search.hpp"

// TASK(autotune)
namespace {

constexpr int kByGuess = 8;  // measurements; the others are near the best one

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

// Configurations that differ in one choice: tile, tile_k, side or stages (config_of in search.hpp).
bool near(int a, int b) {
  return (a / 16 != b / 16) + (a / 8 % 2 != b / 8 % 2) + (a / 4 % 2 != b / 4 % 2) + (a % 4 != b % 4) == 1;
}

}  // namespace

int autotune(const Shape& shape, const Measure& measure) {
  double guessed[kConfigs];
  bool open[kConfigs];  // can run, and was not measured
  for (int i = 0; i < kConfigs; ++i) {
    open[i] = resident(config_of(i)) > 0;
    guessed[i] = open[i] ? guess(shape, config_of(i)) : 0;
  }
  int best = -1;
  double least = 0;
  for (int count = 0; count < kMeasurements; ++count) {
    // The best guesses; then the best neighbours of the fastest so far: guesses err together.
    int next = -1, near_next = -1;
    for (int i = 0; i < kConfigs; ++i) {
      if (!open[i]) continue;
      if (next < 0 || guessed[i] < guessed[next]) next = i;
      if (near(i, best) && (near_next < 0 || guessed[i] < guessed[near_next])) near_next = i;
    }
    if (count >= kByGuess && near_next >= 0) next = near_next;
    if (next < 0) break;
    const double seconds = measure(next);
    open[next] = false;
    if (best < 0 || seconds < least) best = next, least = seconds;
  }
  return best;
}
// END(autotune)
