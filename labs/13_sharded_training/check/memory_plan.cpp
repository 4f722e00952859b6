// Bytes of training, for each stage.
#include <fmt/format.h>

#include <array>

#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

using Bytes = std::int64_t;

// Sizes: layers, channels, heads, T, vocabulary, batch, 2 ranks + bf16, bytes of memory.
struct Plan {
  nn::ModelConfig model;
  Bytes T, ranks, size, n;

  explicit Plan(const Case& c)
      : model{static_cast<int>(c.size[4]), static_cast<int>(c.size[3]), static_cast<int>(c.size[0]),
              static_cast<int>(c.size[2]), static_cast<int>(c.size[1]), true},
        T(c.size[3]),
        ranks(c.size[6] / 2),
        size(c.size[6] % 2 != 0 ? 2 : 4),
        n(static_cast<Bytes>(nn::parameter_layout(model).elements)) {}

  static Bytes rounded(Bytes bytes) { return (bytes + 255) / 256 * 256; }
  Bytes elements(int stage, int from) const { return stage >= from ? (n + ranks - 1) / ranks : n; }
  Bytes weights(int stage) const { return rounded(size * elements(stage, 3)); }
  Bytes gradients(int stage) const { return rounded(4 * elements(stage, 2)); }
  Bytes optimizer(int stage) const { return (size == 2 ? 3 : 2) * rounded(4 * elements(stage, 1)); }
  Bytes activations(Bytes batch) const {
    const Bytes N = batch * T, C = model.channels, H = model.heads, L = model.layers;
    auto take = [&](Bytes count) { return rounded(size * count); };
    Bytes sum = (L + 1) * take(N * C);
    for (const Bytes width : {C, 3 * C, H * T, C, C, C, 4 * C, 4 * C}) sum += L * take(N * width);
    sum += L * 4 * rounded(4 * N);
    return sum + take(N * C) + take(N * model.padded_vocabulary()) + 3 * rounded(4 * N);
  }
  Bytes total(int stage, Bytes batch) const {
    return weights(stage) + gradients(stage) + optimizer(stage) + activations(batch);
  }
  Bytes largest(int stage, Bytes memory) const {
    Bytes low = 0, high = 1;
    while (total(stage, high) <= memory) high *= 2;
    while (high - low > 1) (total(stage, (low + high) / 2) <= memory ? low : high) = (low + high) / 2;
    return low;
  }
};

class MemoryPlanCheck : public TaskCheck {
 public:
  std::string id() const override { return "memory_plan"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 6> model, std::int64_t ranks, bool bf16, std::int64_t memory) {
      Case c;
      std::copy(model.begin(), model.end(), c.size.begin());
      c.size[6] = 2 * ranks + (bf16 ? 1 : 0), c.size[7] = memory;
      c.name =
          fmt::format("L {} C {} H {} T {} V {}, batch {}, {}, {} rank{}, {} MiB", model[0], model[1], model[2],
                      model[3], model[4], model[5], bf16 ? "bf16" : "fp32", ranks, ranks == 1 ? "" : "s", memory >> 20);
      all.push_back(c);
    };
    constexpr std::int64_t kMiB = 1 << 20, kGiB = 1 << 30;
    add({2, 24, 3, 7, 19, 3}, 1, false, kMiB);
    add({2, 24, 3, 7, 19, 3}, 3, true, kMiB / 2);
    add({2, 24, 3, 7, 19, 3}, 83, false, kMiB);               // n / p rounded down is a multiple of 64
    add({12, 768, 12, 1024, 50257, 8}, 8, false, 16 * kGiB);  // GPT-2 124M
    add({12, 768, 12, 1024, 50257, 8}, 8, true, 16 * kGiB);
    add({24, 2048, 16, 2048, 50257, 1}, 4, true, 24 * kGiB);  // 1.3B
    add({3, 40, 5, 11, 1500, 2}, 7, false, 100 * 1024);       // nothing fits
    if (r.mode == Mode::grade)
      for (std::uint64_t i = 0; i < 3; ++i) {
        auto size = [&](std::uint64_t k, std::int64_t low, std::int64_t high) {
          return random_size(r.seed + 16 * i + k, low, high);
        };
        const std::int64_t heads = size(0, 2, 9);
        add({size(1, 2, 30), heads * size(2, 5, 70), heads, size(3, 5, 900), size(4, 20, 3000), size(5, 1, 9)},
            size(6, 2, 64), i != 1, size(7, 200, 9000) * kMiB);
      }
    return all;
  }
  Shape shape(const Case&) const override { return {{}, {21 * sizeof(Bytes)}, 0}; }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  Work work(const Case&) const override { return {20, "number", 0, 0}; }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const Plan plan(c);
    const auto got = as<Bytes>(out[0]);
    const Bytes batch = c.size[5], activations = plan.activations(batch);
    if (got[20] != activations)
      return {false,
              fmt::format("the arena of runtime/nn takes {} bytes of activations and the judge's formula gives {}: "
                          "this is a fault of the course, please report it",
                          got[20], activations)};
    for (int stage = 0; stage < 4; ++stage) {
      const std::array<Bytes, 5> right = {plan.weights(stage), plan.gradients(stage), plan.optimizer(stage),
                                          activations, plan.largest(stage, c.size[7])};
      constexpr const char* kNames[] = {"weights", "gradients", "optimizer", "activations"};
      for (std::size_t k = 0; k < 5; ++k) {
        const Bytes value = got[5 * static_cast<std::size_t>(stage) + k];
        if (value == right[k]) continue;
        if (k < 4)
          return {false, fmt::format("stage {}, {}: {} bytes are right, got {}{}", stage, kNames[k], right[k], value,
                                     hint(plan, stage, k, value, batch))};
        const auto fits = [&](Bytes b) { return fmt::format("{} sequences take {}", b, plan.total(stage, b)); };
        return {false, fmt::format("stage {}, largest_batch: {} is right for {} bytes, got {}: {}, {}", stage, right[4],
                                   c.size[7], value, fits(right[4]), fits(right[4] + 1))};
      }
    }
    return {};
  }

 private:
  static std::string hint(const Plan& plan, int stage, std::size_t kind, Bytes got, Bytes batch) {
    const Bytes n = plan.n, part = (n + plan.ranks - 1) / plan.ranks, size = plan.size;
    auto is = [&](Bytes elements, Bytes bytes, Bytes arrays = 1) {
      return got == arrays * Plan::rounded(bytes * elements);
    };
    if (kind == 0 && size == 2 && (is(n, 4) || is(part, 4))) return ": weights of bf16 have 2 bytes";
    if (kind == 1 && size == 2 && (is(n, 2) || is(part, 2))) return ": gradients are fp32 in both precisions";
    if (kind == 2 && size == 2 && (is(n, 4, 2) || is(part, 4, 2)))
      return ": with bf16 the optimizer keeps fp32 weights";
    if (kind == 2 && got == Plan::rounded((size == 2 ? 12 : 8) * plan.elements(stage, 1)))
      return ": m and v are arrays of their own, and each is rounded up";
    if (kind < 3) {
      const Bytes bytes = kind == 0 ? size : 4, arrays = kind < 2 ? 1 : size == 2 ? 3 : 2;
      if (is(n, bytes, arrays)) return fmt::format(": it is sharded from stage {} on", 3 - kind);
      if (is(part, bytes, arrays)) return fmt::format(": it is sharded from stage {} on only", 3 - kind);
      if (is(n / plan.ranks, bytes, arrays)) return ": n / p is rounded up";
    }
    if (kind == 3 && got == (plan.activations(batch) + plan.ranks - 1) / plan.ranks)
      return ": no stage shards activations";
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> memory_plan() { return std::make_unique<MemoryPlanCheck>(); }

}  // namespace ridge::lab::sharded_training
