// Sharded weights.
#include <algorithm>

#include "checks/bf16.hpp"
#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

// To nearest, ties to even; no NaN.
class Zero3 : public Training {
 public:
  std::string id() const override { return "zero3"; }
  Shape shape(const Case& c) const override {
    const units::Units units = units_of(c);
    const std::size_t own = 4 * units.elements() / static_cast<std::size_t>(c.ranks);
    return {{own, bytes_of_tokens(c), own, own},
            {own, own, own, own},
            4 * (units.size(0) + 2 * units.size(1)) + own / 2 + 2 * (units.size(0) + 3 * units.size(1))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto all = weights(c, c.shared_seed);
    const units::Units units = units_of(c);
    const auto own = floats(in[0]);
    parallel_for(own.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t j = from; j < to; ++j)
        own[j] = all[units.of_own(j, static_cast<std::size_t>(c.ranks), static_cast<std::size_t>(c.rank))];
    });
    fill_own(c, seed, in);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const units::Units units = units_of(c);
    const auto p = static_cast<std::size_t>(c.ranks);
    std::vector<float> before(units.elements());
    std::vector<float> as_bf16(before.size());
    parallel_for(before.size() / p, [&](std::size_t from, std::size_t to) {
      for (std::size_t r = 0; r < p; ++r)
        for (std::size_t j = from; j < to; ++j) {
          const std::size_t i = units.of_own(j, p, r);
          before[i] = floats(in[4 * r])[j], as_bf16[i] = rounded(before[i]).as_float();
        }
    });
    const auto s = step(c, in, as_bf16);
    for (std::size_t r = 0; r < p; ++r) {
      Verdict v = verify_own(c, *s, in, out, r);
      if (v.ok)
        v = compare_with(floats(out[4 * r]),
                         [&](std::size_t j) {
                           const std::size_t i = units.of_own(j, p, r);
                           return updated(c, units, *s, in, before[i], i).weight;
                         },
                         where(c, "weights", r, true),
                         {{"as they came: nothing updated them", [&](std::size_t j) { return floats(in[4 * r])[j]; }}});
      if (!v.ok) return v;
    }
    return {};
  }
  // The time of the measured case's kernels: measured on the emulator, since it has no formula. (4119 us with another
  // compiler.)
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 4018e-6}}; }

 protected:
  std::uint64_t bytes_of_weight() const override { return 2; }
  std::int64_t measured_blocks() const override { return 6; }
  // In backward the last three blocks are still there.
  std::int64_t gathers(const Case& c, int unit) const override { return unit >= 1 && unit <= c.size[0] - 3 ? 2 : 1; }
  const char* needed() const override {
    return "a reduce-scatter of each unit in fp32, an all-gather of each in bf16, and a second all-gather of each block but "
           "the last three";
  }
};

}  // namespace

std::unique_ptr<TaskCheck> zero3() { return std::make_unique<Zero3>(); }

}  // namespace ridge::lab::sharded_training
