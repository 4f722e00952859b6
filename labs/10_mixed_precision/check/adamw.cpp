// Task `adamw` of lab 10: a step with master weights in fp32.
#include <limits>

#include "common.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Sizes: n, calls, rate in millionths, type, updates before, log2 of the scale that gradients carry, skipped: 0 none, 1 some of
// the calls, 2 all, and the gradients are broken; which of the constants.
// As in entry.cu.
struct Constants {
  double beta1, beta2, epsilon, decay;
};
constexpr Constants kConstants[] = {{0.9f, 0.95f, 1e-8f, 0.1f}, {0.8f, 0.999f, 1e-3f, 0}, {0.95f, 0.9f, 1e-5f, 0.3f}};

class AdamW : public TaskCheck {
 public:
  std::string id() const override { return "adamw"; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, std::int64_t n, std::int64_t calls, std::int64_t rate, int type, int before,
                   int scale, int skipped, bool measured = false, int constants = 0) {
      all.push_back(
          {fmt::format("{}n {}", name, n), {n, calls, rate, type, before, scale, skipped, constants}, measured});
    };
    add("first step, ", 1, 1, 1000, 0, 0, 0, 0);
    add("first step, ", 1003, 1, 1000, 0, 0, 0, 0);
    add("40 small steps, ", 777, 40, 50, 0, 7, 0, 0);
    add("scaled fp32 gradients and fp16 weights, ", 2050, 3, 3000, 1, 3, 12, 0);
    add("some steps skipped, ", 1001, 6, 1000, 0, 2, 4, 1);
    add("inf and NaN, skipped, ", 514, 2, 1000, 1, 2, 16, 2);
    add("inf and NaN, skipped before the first update, ", 333, 2, 1000, 0, 0, 0, 2);
    add("first step, other betas, epsilon and decay, ", 1209, 1, 1500, 0, 0, 0, 0, false, 1);
    add("step 500, other betas, epsilon and decay, ", 1209, 2, 1500, 0, 500, 0, 0, false, 1);
    add("other betas, epsilon and decay, ", 1209, 2, 1500, 1, 4, 0, 0, false, 2);
    if (r.mode == Mode::grade) add("", random_size(r.seed, 3000, 30000), 2, 2000, 0, 11, 3, 0);
    if (r.backend == Backend::cpu)
      add("", (r.mode == Mode::check ? 1 << 15 : 1 << 17), 1, 1000, 0, 9, 0, 0, true);
    else
      add("", fitting(std::int64_t{1} << (r.mode == Mode::check ? 26 : 28), 28, r), 1, 1000, 0, 9, 0, 0, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0]);
    return {{n * (c.size[3] == 0 ? 2u : 4u), n * 4, (padded(n) + n) * 4, at(c.size[1]) * sizeof(LossScale)},
            {n * 4, n * 4, n * 4, n * 2}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const std::size_t n = at(c.size[0]);
    const float scale = std::ldexp(1.0f, static_cast<int>(c.size[5]));
    const auto w = floats(in[1]), m = floats(in[2]).first(n), v = floats(in[2]).subspan(padded(n));
    std::vector<float> g(n);
    fill_lognormal(g, seed, 3);
    fill_uniform(w, seed + 1, 0.5f, 2);
    fill_normal(m, seed + 2);
    parallel_for(n, [&](std::size_t from, std::size_t end) {
      for (std::size_t i = from; i < end; ++i) {
        g[i] = static_cast<float>(static_cast<double>(to_bf16(g[i] * 1e-4f)));
        const float near = std::fabs(g[i]);
        const bool first = c.size[4] == 0;
        m[i] = first ? 0 : m[i] * near;
        v[i] =
            first ? 0 : m[i] * m[i] + near * near * (0.1f + static_cast<float>(random_bits(seed + 3, i) % 1024) / 512);
        if (random_bits(seed + 4, i) % 16 == 0) w[i] *= 3e-6f;  // subnormal in fp16
        g[i] *= scale;
        // Weights halfway between two numbers of the result's type, or beyond fp16's range: updates change them little or not.
        if (c.size[6] == 2 && i % 2 == 0)
          w[i] =
              std::bit_cast<float>((std::bit_cast<std::uint32_t>(w[i]) & (c.size[3] == 0 ? 0xFFFF0000u : 0xFFFFE000u)) |
                                   (c.size[3] == 0 ? 0x8000u : 0x1000u));
        if (c.size[3] != 0 && i % 64 == 5) w[i] *= 7e4f;
      }
    });
    if (c.size[6] == 2)
      for (std::size_t i = random_bits(seed, 1) % 3; i < n; i += 7)
        g[i] = i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    if (c.size[3] == 0)
      for (std::size_t i = 0; i < n; ++i) as<Bf16>(in[0])[i] = to_bf16(g[i]);
    else
      std::copy(g.begin(), g.end(), floats(in[0]).begin());
    auto updates = static_cast<std::int32_t>(c.size[4]);
    const auto states = as<LossScale>(in[3]);
    for (std::size_t k = 0; k < states.size(); ++k) {
      const bool skip = c.size[6] == 2 || (c.size[6] == 1 && (k == 1 || random_bits(seed + 5, k) % 2 == 0));
      if (!skip) ++updates;
      states[k] = {scale / 2, 1 / scale, 0, updates, skip ? 1 : 0};
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::size_t n = at(c.size[0]);
    const auto w = floats(in[1]), m = floats(in[2]).first(n), v = floats(in[2]).subspan(padded(n));
    const auto states = as<LossScale>(in[3]);
    const auto calls = static_cast<double>(c.size[1]);
    const auto new_w = floats(out[0]), new_m = floats(out[1]), new_v = floats(out[2]);
    const double rate = static_cast<float>(c.size[2]) * 1e-6f;
    const auto [beta1, beta2, epsilon, decay] = kConstants[at(c.size[7])];
    struct Step {
      double unscale, first, second;  // 1 - beta1^t, 1 - beta2^t
    };
    std::vector<Step> steps;
    for (const LossScale& s : states)
      if (s.skip == 0)
        steps.push_back({double{s.unscale}, 1 - std::pow(beta1, s.updates), 1 - std::pow(beta2, s.updates)});
    struct Element {
      Expected w, m, v;
    };
    auto expected = [&](std::size_t i) {
      double ws = w[i], ms = m[i], vs = v[i], size_m = std::fabs(ms), moved = 0;
      const double scaled = c.size[3] == 0 ? static_cast<double>(as<Bf16>(in[0])[i]) : double{floats(in[0])[i]};
      for (const Step& s : steps) {
        const double g = scaled * s.unscale;
        ms = beta1 * ms + (1 - beta1) * g;
        vs = beta2 * vs + (1 - beta2) * g * g;
        size_m = std::max(size_m, std::fabs(g));
        const double step = ms / s.first / (std::sqrt(vs / s.second) + epsilon) + decay * ws;
        ws -= rate * step;
        moved += rate * (std::fabs(step) + 4);
      }
      if (steps.empty()) return Element{within_ulps(ws, 0, 0), within_ulps(ms, 0, 0), within_ulps(vs, 0, 0)};
      return Element{within_ulps(ws, std::fabs(ws) + 8 * moved, calls + 2), within_ulps(ms, size_m, calls + 2),
                     within_ulps(vs, vs, calls + 4)};
    };
    Verdict a = compare_close(
        new_w, [&](std::size_t i) { return expected(i).w; }, named("new_w"));
    if (a.ok)
      a = compare_close(
          new_m, [&](std::size_t i) { return expected(i).m; }, named("new_m"));
    if (a.ok)
      a = compare_close(
          new_v, [&](std::size_t i) { return expected(i).v; }, named("new_v"));
    if (!a.ok) return a;
    const auto got = as<std::uint16_t>(out[3]);
    auto nearest = [&](std::size_t i) { return c.size[3] == 0 ? to_bf16(new_w[i]).bits : to_half(new_w[i]).bits; };
    if (const std::size_t i = first_where(n, [&](std::size_t k) { return got[k] != nearest(k); }); i < n)
      return wrong(fmt::format("weights[{}] has the bits {:04x}, and the nearest {} to new_w[{}] = {:.9g} has {:04x}",
                               i, got[i], c.size[3] == 0 ? "bf16" : "fp16", i, new_w[i], nearest(i)),
                   "weights that are not the nearest 16-bit numbers to the master weights");
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    const double short_gradient = c.size[3] == 0 ? 2 : 4;
    return {n * 16, "flop", n * (12 + short_gradient), n * 14};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> adamw() { return std::make_unique<AdamW>(); }

}  // namespace ridge::lab::mixed_precision
