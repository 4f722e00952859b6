// One all-reduce after backward, and the update.
#include <fmt/format.h>

#include <cmath>

#include "common.hpp"

namespace ridge::lab::ddp {

namespace {

class After : public Training {
 public:
  std::string id() const override { return "after"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    s.out.push_back(s.out[0]);
    return s;
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    Training::fill(c, seed, in);
    if (c.rank != 0) fill_weights(c, seed, floats(in[0]));  // other ones
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 2);
    const Gradient& g = *expected_g;
    const auto before = floats(in[0]);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.ranks); ++r) {
      if (Verdict v = verify_gradient(c, g, in, 2, floats(out[2 * r + 1]), r); !v.ok) return v;
      Verdict v = compare_with(
          floats(out[2 * r]),
          [&](std::size_t i) {
            const double w = before[i], step = kRate * g.value[i], size = std::fabs(w) + std::fabs(step);
            return expected(w - step, kRate * g.deviation[i] + kFp32.unit() * size, size);
          },
          where(c, "weights", r), [&] { return wrong_weights(c, g, in, r); });
      if (!v.ok) return v;
    }
    for (std::size_t which : {std::size_t{1}, std::size_t{0}})
      if (Verdict v = same_bits(out, 2, which, which == 0 ? "weights" : "gradients"); !v.ok) return v;
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const auto p = static_cast<std::uint64_t>(c.ranks);
    const Traffic t(c, messages);
    if (Verdict v = verify_all_reduce(c, t, true, "a broadcast of the weights and an all-reduce of the gradients");
        !v.ok)
      return v;
    for (std::uint64_t sent : t.messages)
      if (sent > 1 + 2 * (p - 1))
        return refused(fmt::format("a rank sends {} messages, and one broadcast and one all-reduce need {} at most",
                                   sent, 1 + 2 * (p - 1)));
    return {};
  }

 private:
  static std::vector<Suspect> wrong_weights(const Case& c, const Gradient& g, ConstBuffers in, std::size_t rank) {
    const auto w = floats(in[0]), own = floats(in[2 * rank]);
    const auto part = std::make_shared<const std::vector<double>>(parts(c, in, 2, false)[rank]);
    return {{"rank 0's weights as they came: nothing updated them", [=](std::size_t i) { return w[i]; }},
            {"updated with this rank's own part of the gradient, before the sum was there",
             [=](std::size_t i) { return w[i] - kRate * (*part)[i]; }},
            {"this rank's own weights as they came", [=](std::size_t i) { return own[i]; }},
            {"this rank's own weights, updated: those of rank 0 count",
             [=, &g](std::size_t i) { return own[i] - kRate * g.value[i]; }},
            {"moved the other way: w -= rate * g", [=, &g](std::size_t i) { return w[i] + kRate * g.value[i]; }}};
  }

  static constexpr double kRate = 0.25;  // as in entry.cu
};

}  // namespace

std::unique_ptr<TaskCheck> after() { return std::make_unique<After>(); }

}  // namespace ridge::lab::ddp
