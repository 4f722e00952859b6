// Task `divergence`: four kinds of elements, whose rounds differ by up to 64 times.
#include <cmath>

#include "checks/variants.hpp"
#include "common.hpp"

namespace ridge::lab::profiling {

namespace {

constexpr int kKinds = 4;
int rounds_of(int kind) { return 8 << (2 * kind); }

double relaxed(int kind, double x, int rounds) {
  for (int round = 0; round < rounds; ++round) x = 0.5 + kind - 0.9921875 * x;
  return x;
}

class Divergence : public TaskCheck {
 public:
  std::string id() const override { return "divergence"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<std::int64_t> sizes = {1, 31, 1000, 4099};
    if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, 2000, 9000));
    std::vector<Case> all;
    for (const std::int64_t n : sizes) all.push_back({fmt::format("n {}", n), {n}});
    const int more = r.backend == Backend::cpu ? 0 : 7;  // a GPU takes some 0.1 ms
    const std::int64_t n = std::int64_t{r.mode == Mode::check ? 1 << 16 : 1 << 17} << more;
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = static_cast<std::size_t>(c.size[0]) * 4;
    return {{bytes, bytes}, {bytes}, bytes + 4096};
  }
  // Kinds come equally often.
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_integers(as<std::int32_t>(in[0]), seed, 0, kKinds - 1);
    fill_uniform(floats(in[1]), seed + 1, 0.5f, 2);
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto kind = as<const std::int32_t>(in[0]);
    const auto x = floats(in[1]), got = floats(out[0]);
    return compare_close<float>(
        got,
        [&](std::size_t i) {
          const int k = kind[i];
          const double y = relaxed(k, x[i], rounds_of(k)), size = std::fabs(y) + 4;
          return within_ulps(y, size, 128);  // errors of 128 rounds are remembered
        },
        [](std::size_t i) { return fmt::format("y[{}]", i); });
  }
  // Warp instructions of the rounds, as many as 32 lanes of one kind need: three in the CPU build for each, and the loop.
  std::vector<Bound> bounds(const Case& c) const override {
    double rounds = 0;
    for (int k = 0; k < kKinds; ++k) rounds += rounds_of(k);
    const double warps = static_cast<double>(c.size[0]) / 32 * rounds / kKinds;
    return {{"idle_lanes_over_bound", warps * kInstructions}, {"instructions_over_bound", warps * kInstructions}};
  }
  Work work(const Case& c) const override {
    double rounds = 0;
    for (int k = 0; k < kKinds; ++k) rounds += rounds_of(k);
    const double n = static_cast<double>(c.size[0]);
    return {2 * n * rounds / kKinds, "flop", 8 * n, 4 * n};
  }

 private:
  static constexpr double kInstructions = 5;
};

}  // namespace

std::unique_ptr<TaskCheck> divergence() { return std::make_unique<Divergence>(); }

}  // namespace ridge::lab::profiling
