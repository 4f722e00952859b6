// Times of kernels, by hand.
#include <algorithm>
#include <random>

#include "clusters.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("a product takes whole tiles, in waves over the SMs, and no less than its operations at the limit of power") {
  Gpu g = small_gpu();
  g.memory_bandwidth = 1e15;
  const double rate = 1e12 * 0.8 / 10;  // of an SM
  // 1280 x 2560 outputs are 100 tiles of 128 x 256, 10 waves.
  CHECK(product_seconds(g, 1280, 2560, 900, Precision::bf16) == Approx(10 * 2 * 128 * 256 * 1000.0 / rate));
  // One row more is another row of tiles, in a wave of its own. Smaller tiles would do worse.
  CHECK(product_seconds(g, 1281, 2560, 900, Precision::bf16) == Approx(11 * 2 * 128 * 256 * 1000.0 / rate));
  // fp8: twice the rate, of which 0.9; the same seconds for start and end, so twice the depth.
  CHECK(product_seconds(g, 1280, 2560, 900, Precision::fp8) == Approx(10 * 2 * 128 * 256 * 1100.0 / (2 * rate * 0.9)));
  // A few rows: small tiles keep more SMs busy.
  CHECK(product_seconds(g, 64, 640, 900, Precision::bf16) == Approx(2 * 64 * 64 * 1000.0 / (rate * 0.55)));
  // Where power sets the clock, a last wave that is not full costs what it computes; whole waves would be faster alone.
  g.clock_boost = 1.25;
  CHECK(product_seconds(g, 1281, 2560, 900, Precision::bf16) == Approx(1281 * 2560 * 2 * 1000.0 / (10 * rate)));
  CHECK(product_seconds(g, 64, 640, 900, Precision::bf16) == Approx(2 * 64 * 64 * 1000.0 / (rate * 1.25 * 0.55)));
  g.memory_bandwidth = 1e9;
  CHECK(product_seconds(g, 16, 10000, 10000, Precision::bf16) == Approx(2 * (16e4 + 1e8 + 16e4) / 1e9));
  CHECK(product_seconds(g, 0, 5, 5, Precision::bf16) == 0);
  CHECK(memory_seconds(g, 1e9) == Approx(1));
}

TEST_CASE("the slowest of many GPUs") {
  Gpu g = small_gpu();
  CHECK(slowest_of(g, 512) == 0);
  g.speed_spread = 0.02;
  CHECK(slowest_of(g, 1) == Approx(0).margin(1e-9));
  std::mt19937_64 random(5);
  std::normal_distribution<double> draw(0, 0.02);
  for (int n : {2, 8, 96, 1000}) {
    double sum = 0;
    for (int i = 0; i < 3000; ++i) {
      double most = -1;
      for (int j = 0; j < n; ++j) most = std::max(most, draw(random));
      sum += most;
    }
    CHECK(slowest_of(g, n) == Approx(sum / 3000).epsilon(0.04));
  }
  const double fixed = slowest_of(g, 1000);
  g.speed_jitter = 0.03;
  CHECK(slowest_of(g, 1000) == Approx(fixed));  // alone in its tensor group
  CHECK(slowest_of(g, 1000, 8) == Approx(fixed + 1.5 * slowest_of(g, 8)));
}
