// Task `autotune`: the time of each configuration on a device that is drawn from a seed. Limits of an SM as in model.hpp;
// speeds and latencies are the device's own. Deterministic.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "../model.hpp"
#include "../search.hpp"
#include "checks/fill.hpp"

namespace ridge::lab::profiling {

using ::Shape;  // not the judge's

// Blocks that an SM holds; 0: none can run.
inline int resident_blocks(const Config& c, const Device& d = {}) {
  const int threads = threads_of(c), warps = (threads + 31) / 32, registers = (registers_of(c) + 7) / 8 * 8;
  if (threads < 32 || threads > 1024 || shared_of(c) > 232448) return 0;
  return std::min({d.warps / warps, d.blocks, d.shared / (shared_of(c) + d.shared_reserved),
                   d.registers / 4 / (32 * registers) * 4 / warps});
}

class GemmTimes {
 public:
  GemmTimes(std::uint64_t seed, const Shape& shape) {
    auto factor = [seed](std::uint64_t i, double low, double high) {
      return low + (high - low) * static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53;
    };
    const double fma = 128 * factor(0, 0.8, 1), shared = factor(1, 0.75, 1.1), l2 = 21 * factor(2, 0.75, 1.3),
                 latency = 1000 * factor(3, 0.8, 1.35), barrier = 40 * factor(4, 0.6, 1.6);
    for (int i = 0; i < kConfigs; ++i) {
      const Config c = config_of(i);
      const int resident = resident_blocks(c);
      seconds_[static_cast<std::size_t>(i)] = -1;
      if (resident == 0) continue;
      auto over = [](int a, int b) { return (a + b - 1) / b; };
      const double blocks = double(over(shape.m, c.tile_m)) * over(shape.n, c.tile_n), steps = over(shape.k, c.tile_k);
      // Of an SM: `together` blocks at a time, in waves.
      const double of_sm = std::ceil(blocks / 132), together = std::min<double>(resident, of_sm);
      const double products = double(c.tile_m) * c.tile_n * c.tile_k;
      const double arithmetic = products / fma / std::min(1.0, together * threads_of(c) / 256.0);
      const double reads = products * (1.0 / c.thread_m + 1.0 / c.thread_n) / 32 / 2 / shared;
      const double strips = (c.tile_m + c.tile_n) * c.tile_k * 4 / l2;
      const double step = std::cbrt(cube(arithmetic) + cube(reads) + cube(strips));
      // A strip is on its way for `latency` cycles; meanwhile other blocks work, and the stages before it.
      const double hidden = step * (together - 1 + (c.stages - 1) * together);
      const double waits = std::max(0.0, latency - hidden) / together + barrier / together;
      const double noise = 1 + 0.02 * (factor(100 + static_cast<std::uint64_t>(i), 0, 1) - 0.5);
      seconds_[static_cast<std::size_t>(i)] = of_sm * (steps * (step + waits) + latency / together) / 1.98e9 * noise;
    }
  }
  double of(int config) const { return seconds_.at(static_cast<std::size_t>(config)); }  // below 0: cannot run
  double best() const {
    double least = INFINITY;
    for (const double s : seconds_)
      if (s > 0) least = std::min(least, s);
    return least;
  }

 private:
  static double cube(double x) { return x * x * x; }
  std::array<double, kConfigs> seconds_{};
};

}  // namespace ridge::lab::profiling
