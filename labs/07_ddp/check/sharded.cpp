// A sharded optimizer.
#include <fmt/format.h>

#include <cmath>

#include "common.hpp"

namespace ridge::lab::ddp {

namespace {

class Sharded : public Training {
 public:
  std::string id() const override { return "sharded"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    const std::size_t own = bytes_of_weights(c) / static_cast<std::size_t>(c.ranks);
    s.in.insert(s.in.end(), {own, own});
    s.out.insert(s.out.end(), {own, own});
    s.workspace = bytes_of_weights(c);
    return s;
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    Training::fill(c, seed, in);
    fill_normal(floats(in[2]), seed + 1);
    scale_and_shift(floats(in[2]), 1e-2f, 0);
    fill_uniform(floats(in[3]), seed + 2, 1e-5f, 4e-5f);
    for (float& v : floats(in[3])) v = std::fabs(v);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 4);
    const Gradient& g = *expected_g;
    const std::size_t p = static_cast<std::size_t>(c.ranks), own = g.value.size() / p;
    const auto before = floats(in[0]);
    // As in entry.cu.
    constexpr double rate = 0.01f, beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-6f, decay = 0.1f, step = 10;
    const double c1 = 1 / (1 - std::pow(beta1, step)), c2 = 1 / (1 - std::pow(beta2, step)), u = kFp32.unit();
    std::vector<Expected> w(g.value.size()), m(g.value.size()), v(g.value.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double m0 = floats(in[4 * (i / own) + 2])[i % own], v0 = floats(in[4 * (i / own) + 3])[i % own];
      const double gi = g.value[i], dg = g.deviation[i], m1 = beta1 * m0 + (1 - beta1) * gi,
                   v1 = beta2 * v0 + (1 - beta2) * gi * gi;
      const double m_size = std::fabs(beta1 * m0) + std::fabs((1 - beta1) * gi);
      // 1 - beta is rounded, too; so two units each.
      const double dm = (1 - beta1) * dg + 2 * u * m_size, dv = 2 * (1 - beta2) * std::fabs(gi) * dg + 2 * u * v1;
      const double root = std::sqrt(v1 * c2), update = m1 * c1 / (root + epsilon);
      const double d_update = c1 * dm / root + std::fabs(update) * (dv / (2 * v1) + 4 * u);
      const double moved = rate * (update + decay * before[i]), size = std::fabs(before[i]) + std::fabs(moved);
      m[i] = expected(m1, dm, m_size);
      v[i] = expected(v1, dv, v1);
      w[i] = expected(before[i] - moved, rate * d_update + 2 * u * size, size);
    }
    for (std::size_t r = 0; r < p; ++r) {
      // Wrong moments: with this rank's own part of the gradient, and with another rank's share of the sum.
      auto moment = [&](double beta, std::size_t which, bool squared) {
        return [&, beta, which, squared, r] {
          const auto before_it = floats(in[4 * r + which]);
          auto with = [=](std::function<double(std::size_t)> gradient) {
            return [=](std::size_t i) {
              const double x = gradient(i);
              return beta * before_it[i] + (1 - beta) * (squared ? x * x : x);
            };
          };
          const auto part = std::make_shared<const std::vector<double>>(parts(c, in, 4, false)[r]);
          std::vector<Suspect> all = {
              {"made of this rank's own part of the gradient: nothing was summed",
               with([=](std::size_t i) { return (*part)[r * own + i]; })},
              {"as they came: nothing updated them", [=](std::size_t i) { return before_it[i]; }}};
          for (std::size_t q = 0; q < p; ++q)
            if (q != r)
              all.push_back({fmt::format("made of the gradients of rank {}'s weights: this rank's begin at element "
                                         "rank * n / p",
                                         q),
                             with([&g, q, own](std::size_t i) { return g.value[q * own + i]; })});
          return all;
        };
      };
      auto old_weights = [&]() -> std::vector<Suspect> {
        return {{"the old weights: the updated ones of other ranks did not come here",
                 [=](std::size_t i) { return before[i]; }}};
      };
      Verdict verdict = compare_with(
          floats(out[3 * r + 1]), [&](std::size_t i) { return m[r * own + i]; }, where(c, "m", r, r * own),
          moment(beta1, 2, false));
      if (verdict.ok)
        verdict = compare_with(
            floats(out[3 * r + 2]), [&](std::size_t i) { return v[r * own + i]; }, where(c, "v", r, r * own),
            moment(beta2, 3, true));
      if (verdict.ok)
        verdict = compare_with(
            floats(out[3 * r]), [&](std::size_t i) { return w[i]; }, where(c, "weights", r), old_weights);
      if (!verdict.ok) return verdict;
    }
    return same_bits(out, 3, 0, "weights");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return verify_all_reduce(c, Traffic(c, messages), false, "a reduce-scatter and an all-gather");
  }
};

}  // namespace

std::unique_ptr<TaskCheck> sharded() { return std::make_unique<Sharded>(); }

}  // namespace ridge::lab::ddp
