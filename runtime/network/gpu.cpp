#include "gpu.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::network {

namespace {

// Tiles that libraries choose among. The smaller read more of L2 for each operation, and reach less.
struct Tile {
  int rows, columns;
  double rate;  // of the largest tile's
};
constexpr Tile kTiles[] = {{128, 256, 1}, {256, 128, 1}, {128, 128, 0.93}, {128, 64, 0.75}, {64, 64, 0.55}};

// The expected largest of n normal draws is about the quantile (n - 0.375) / (n + 0.25) (Blom 1958).
double expected_largest(int n) {
  const double above = 0.625 / (n + 0.25);
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > above ? low : high) = middle;
  }
  return low;
}

}  // namespace

double memory_seconds(const Gpu& gpu, double bytes) {
  return bytes <= 0 ? 0 : gpu.kernel_seconds + bytes / gpu.memory_bandwidth;
}

double attention_rate(const Gpu& gpu, Attention attention, int sequence, double heads, bool backward) {
  const AttentionRates& rates = attention == Attention::cudnn ? gpu.cudnn : gpu.flash;
  const AttentionRate& rate = backward ? rates.backward : rates.forward;
  const double waves = heads * sequence / 128 / gpu.sms;
  return rate.flops * sequence / (sequence + rate.half) * waves / (waves + rate.waves);
}

double slowest_of(const Gpu& gpu, int ranks, int tensor) {
  return gpu.speed_spread * expected_largest(ranks) + gpu.speed_jitter * expected_largest(tensor);
}

double product_seconds(const Gpu& gpu, double m, double n, double k, Precision precision) {
  if (m <= 0 || n <= 0 || k <= 0) return 0;
  const bool fp8 = precision == Precision::fp8;
  const double rate = (fp8 ? gpu.fp8_flops * gpu.fp8_efficiency : gpu.bf16_flops) * gpu.product_efficiency / gpu.sms;
  const double depth = k + gpu.product_depth * (fp8 ? gpu.fp8_flops / gpu.bf16_flops : 1);
  double tiled = INFINITY;
  for (const Tile& t : kTiles) {
    const double tiles = std::ceil(m / t.rows) * std::ceil(n / t.columns);
    const double waves = std::ceil(tiles / gpu.sms);
    tiled = std::min(tiled, waves * 2 * t.rows * t.columns * depth / (rate * gpu.clock_boost * t.rate));
  }
  const double powered = 2 * m * n * depth / (rate * gpu.sms);
  const double bytes = (fp8 ? 1 : 2) * (m * k + k * n) + 2 * m * n;
  return gpu.kernel_seconds + std::max({tiled, powered, bytes / gpu.memory_bandwidth});
}

}  // namespace ridge::network
