// Task `autotune`: choose one of 64 ways to compute C = A B, in few measurements.
#pragma once

struct Shape {
  int m, n, k;  // A is (m, k), B is (k, n), in fp32
};

// One way: a block has a tile of C and walks along k in steps of tile_k; a thread has thread_m x thread_n elements of
// the tile. `stages` strips of A and B are in shared memory at once, all but one of them on their way.
struct Config {
  int tile_m, tile_n, tile_k, thread_m, thread_n, stages;
};

constexpr int kConfigs = 64;

// Configuration i of 0 to 63.
constexpr Config config_of(int i) {
  constexpr int tiles[4][2] = {{32, 32}, {64, 64}, {128, 128}, {256, 128}}, steps[2] = {8, 32}, sides[2] = {4, 8},
                stages[4] = {1, 2, 3, 5};
  return {tiles[i / 16][0], tiles[i / 16][1], steps[i / 8 % 2], sides[i / 4 % 2], sides[i / 4 % 2], stages[i % 4]};
}

// What a block needs.
constexpr int threads_of(const Config& c) { return c.tile_m / c.thread_m * (c.tile_n / c.thread_n); }
constexpr int registers_of(const Config& c) { return 24 + c.thread_m * c.thread_n + 2 * (c.thread_m + c.thread_n); }
constexpr int shared_of(const Config& c) { return c.stages * (c.tile_m + c.tile_n) * c.tile_k * 4; }
// A block that cannot run: it has fewer threads than a warp or more than 1024, more shared memory than a block may have
// (227 KiB), or more registers than an SM has. Such a configuration must be recognised: measuring it fails the task.

// Returns the seconds of the product, which the judge measures; on a GPU they vary by a percent or so. The judge counts the
// calls: 12 at most, and each one counts, also one that was made before.
class Measure {
 public:
  using Function = double (*)(const Shape& shape, int config);
  Measure(const Shape& shape, Function function) : shape_(shape), function_(function) {}
  double operator()(int config) const { return function_(shape_, config); }

 private:
  Shape shape_;
  Function function_;
};

constexpr int kMeasurements = 12;

// Returns the number of the configuration that is to be used for this shape, within 5% of the fastest. On the host.
// The device is an H200 or a relative of it: 132 SMs with the limits of model.hpp, and speeds of its own. On a GPU it is
// that GPU, and the kernel is the one of baseline/gemm.hpp.
int autotune(const Shape& shape, const Measure& measure);
