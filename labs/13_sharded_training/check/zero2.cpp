// Sharded gradients.
#include <fmt/format.h>

#include <cstring>

#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

class Zero2 : public Training {
 public:
  std::string id() const override { return "zero2"; }
  Shape shape(const Case& c) const override {
    const units::Units units = units_of(c);
    const std::size_t all = 4 * units.elements(), own = all / static_cast<std::size_t>(c.ranks);
    return {{all, bytes_of_tokens(c), own, own}, {all, own, own, own}, 4 * (units.size(0) + 2 * units.size(1))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto all = weights(c, c.shared_seed);
    std::copy(all.begin(), all.end(), floats(in[0]).begin());
    fill_own(c, seed, in);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const units::Units units = units_of(c);
    const auto before = floats(in[0]);
    const auto s = step(c, in, before);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.ranks); ++r) {
      Verdict v = verify_own(c, *s, in, out, r);
      if (v.ok)
        v = compare_with(floats(out[4 * r]),
                         [&](std::size_t i) { return updated(c, units, *s, in, before[i], i).weight; },
                         where(c, "weights", r, false),
                         {{"the old weights: the updated ones of their owners did not come here",
                           [&](std::size_t i) { return before[i]; }}});
      if (!v.ok) return v;
    }
    for (std::size_t r = 1; r < static_cast<std::size_t>(c.ranks); ++r)
      if (std::memcmp(out[0].data(), out[4 * r].data(), out[0].size()) != 0)
        return {false, fmt::format("the updated weights of rank {} are not, bit for bit, those of rank 0", r),
                "ranks have different answers", "agree"};
    return {};
  }
  // The time of the measured case's kernels: measured on the emulator, since it has no formula. (2768 us with another
  // compiler.)
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 2700e-6}}; }

 protected:
  std::int64_t gathers(const Case&, int) const override { return 1; }
  const char* needed() const override { return "a reduce-scatter and an all-gather of each unit"; }
};

}  // namespace

std::unique_ptr<TaskCheck> zero2() { return std::make_unique<Zero2>(); }

}  // namespace ridge::lab::sharded_training
