// Task `adamw` of lab 10: a step with master weights in fp32.
#include <limits>

#include "adamw_rules.hpp"
#include "checks/stream.hpp"
#include "checks/wide.hpp"
#include "common.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Sizes: n, calls, rate in millionths, type, updates before, log2 of the scale that gradients carry, skipped: 0 none, 1 some of
// the calls, 2 all, and the gradients are broken; which of the constants.
// As in entry.cu.
constexpr AdamWConstants kConstants[] = {
    {0.9f, 0.95f, 1e-8f, 0.1f}, {0.8f, 0.999f, 1e-3f, 0}, {0.95f, 0.9f, 1e-5f, 0.3f}};

// What a case's inputs are like: fp16 and fp32 or bf16, the first update, gradients with inf and NaN, their scale.
struct Kind {
  bool half, first, broken;
  float scale;
};
// Elements i, i + 1, ... of a case. gradients: numbers of many sizes, which become gradients; w and m: numbers near 1;
// bits: random ones.
RIDGE_WIDE void fill_part(const Kind& kind, std::size_t i, std::span<float> gradients, const std::uint32_t* bits,
                          float* w, float* m, float* v) {
  float* g = gradients.data();
  const auto n = static_cast<std::uint32_t>(gradients.size()), number = static_cast<std::uint32_t>(i);
  // Weights halfway between two numbers of the result's type: updates change them little or not.
  const std::uint32_t kept = kind.half ? 0xFFFFE000u : 0xFFFF0000u, middle = kind.half ? 0x1000u : 0x8000u;
  const bool half = kind.half, first = kind.first, broken = kind.broken;
  const float scale = kind.scale;
#pragma omp simd
  for (std::uint32_t k = 0; k < n; ++k) {
    const float bf16 = std::bit_cast<float>(static_cast<std::uint32_t>(rounded(g[k] * 1e-4f).bits) << 16);
    const float near = std::fabs(bf16), moment = first ? 0.0f : m[k] * near;
    // Products of few bits are exact, so that every machine makes the same v, with fused operations and without.
    const float factor = static_cast<float>(static_cast<std::int32_t>((bits[k] & 127) + 13)) / 64;
    const float few_bits = std::bit_cast<float>(std::bit_cast<std::uint32_t>(moment) & 0xFFFFF000u);
    m[k] = moment;
    v[k] = first ? 0.0f : few_bits * few_bits + near * near * factor;
    float weight = w[k];
    weight = (bits[k] >> 28) == 0 ? weight * 3e-6f : weight;  // subnormal in fp16
    const float tie = std::bit_cast<float>((std::bit_cast<std::uint32_t>(weight) & kept) | middle);
    weight = broken && (number + k) % 2 == 0 ? tie : weight;
    w[k] = half && (number + k) % 64 == 5 ? weight * 7e4f : weight;  // beyond fp16's range
    g[k] = bf16 * scale;
  }
}

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
    add("some steps skipped, ", 1001, 6, 1000, 0, 2, 4, 1);
    add("inf and NaN, skipped, ", 514, 2, 1000, 1, 2, 16, 2);  // with fp16 ties
    add("scaled fp32 gradients and fp16 weights, ", 2050, 3, 3000, 1, 3, 12, 0);
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
    const Kind kind{c.size[3] != 0, c.size[4] == 0, c.size[6] == 2, scale};
    parallel_for(n, [&](std::size_t from, std::size_t end) {
      float g[kTogether], some_w[kTogether], some_m[kTogether], some_v[kTogether];
      Bf16 short_g[kTogether];
      std::uint32_t bits[kTogether];
      for (std::size_t i = from; i < end; i += kTogether) {
        const std::size_t count = std::min(kTogether, end - i);
        const std::span<float> part(g, count);
        fill_lognormal(part, seed, i, 3);
        fill_uniform(std::span(some_w, count), seed + 1, i, 0.5f, 2);
        fill_normal(std::span(some_m, count), seed + 2, i);
        fill_bits(std::span(bits, count), seed + 3, i);
        fill_part(kind, i, part, bits, some_w, some_m, some_v);
        copy_past_caches(w.subspan(i, count), some_w);
        copy_past_caches(m.subspan(i, count), some_m);
        copy_past_caches(v.subspan(i, count), some_v);
        for (std::size_t k = 0; kind.broken && k < part.size(); ++k)
          if ((i + k) % 7 == random_bits(seed, 1) % 3)
            g[k] = (i + k) % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
        if (kind.half) {
          copy_past_caches(floats(in[0]).subspan(i, count), g);
        } else {
          std::transform(part.begin(), part.end(), short_g, rounded);
          copy_past_caches(as<Bf16>(in[0]).subspan(i, count), short_g);
        }
      }
    });
    auto updates = static_cast<std::int32_t>(c.size[4]);
    const auto states = as<LossScale>(in[3]);
    for (std::size_t k = 0; k < states.size(); ++k) {
      const bool skip = c.size[6] == 2 || (c.size[6] == 1 && (k == 1 || random_bits(seed + 5, k) % 2 == 0));
      if (!skip) ++updates;
      states[k] = {scale / 2, 1 / scale, 0, updates, skip ? 1 : 0};
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const AdamWProblem problem{c.size[3] != 0,
                               kConstants[at(c.size[7])],
                               static_cast<float>(c.size[2]) * 1e-6f,
                               as<LossScale>(in[3]).first(at(c.size[1])),
                               in,
                               at(c.size[0])};
    const AdamWAnswer expected(problem, {});
    const auto new_w = floats(out[0]), new_m = floats(out[1]), new_v = floats(out[2]);
    // The weights come from the moments: an error shows first in these.
    const Verdict m = compare_close(
        new_m, [&](std::size_t i) { return expected(i, AdamWAnswer::Wanted::moments).m; }, named("new_m"));
    const Verdict v = compare_close(
        new_v, [&](std::size_t i) { return expected(i, AdamWAnswer::Wanted::moments).v; }, named("new_v"));
    const Verdict w = compare_close(
        new_w, [&](std::size_t i) { return expected(i).w; }, named("new_w"));
    if (m.ok && v.ok && w.ok) return verify_rounding(problem, new_w, as<std::uint16_t>(out[3]));
    Verdict a = !m.ok ? m : !v.ok ? v : w;
    if (a.cause != Cause::none && a.cause != Cause::one_factor && a.cause != Cause::all_zero) {
      a.message += rest_of_four(new_w);
      return a;
    }
    std::string why;
    constexpr std::size_t kMany = 16;  // elements, below which a rounding hides what else differs
    const bool few_shorts = problem.n < kMany && m.ok && v.ok && all_short(new_w, problem.half);
    if (few_shorts)
      why = fmt::format("new_w is a {0} number, and must keep all bits of fp32: only weights are {0}",
                        problem.half ? "fp16" : "bf16"),
      a.cause = Cause::none;
    else if (const std::string rule = rule_behind(problem, new_w, new_m, new_v); !rule.empty())
      why = "the numbers are those of AdamW " + rule, a.cause = Cause::none;
    else if (expected.all_skipped())
      why = "state->skip is 1 in all calls of this case: new_w, new_m and new_v must be w, m and v, bit for bit";
    else if (m.ok && v.ok)
      why =
          "new_m and new_v are right, so the error is in the step: bias correction (t), epsilon, weight decay or rate";
    else if (m.ok)
      why = "new_m is right: look at beta2, and at the square of g";
    else
      why = "new_w is made from new_m, so look at new_m first: unscale, beta1, skip; the gradient without weight decay";
    // In place of what the comparison says of precision.
    const std::size_t counted = a.message.find(" are wrong");
    if (counted == std::string::npos) return a;
    a.message.resize(counted + std::string_view(" are wrong").size());
    a.message += "; " + why;
    return a;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    const double short_gradient = c.size[3] == 0 ? 2 : 4;
    return {n * 16, "flop", n * (12 + short_gradient), n * 14};
  }

 private:
  // Said where the numbers that are NaN are the last n % 4.
  static std::string rest_of_four(std::span<const float> new_w) {
    const std::size_t n = new_w.size(), rest = n % 4;
    const auto lost = std::count_if(new_w.begin(), new_w.end(), [](float x) { return std::isnan(x); });
    if (rest == 0 || at(lost) != rest ||
        !std::all_of(new_w.end() - lost, new_w.end(), [](float x) { return std::isnan(x); }))
      return {};
    return n < 4 ? fmt::format("; n is {}: are the last n % 4 elements written?", n)
                 : "; they are the last n % 4 elements";
  }
  // weights: the 16-bit numbers next to the master weights.
  static Verdict verify_rounding(const AdamWProblem& p, std::span<const float> new_w,
                                 std::span<const std::uint16_t> got) {
    auto nearest = [&](std::size_t i) { return p.half ? to_half(new_w[i]).bits : rounded(new_w[i]).bits; };
    auto bad = [&](std::size_t i) { return got[i] != nearest(i); };
    std::size_t i = first_where(p.n, bad);
    if (i == p.n) return {};
    // A number halfway between two others says more than one that is too large.
    const std::size_t tie = first_where(p.n, [&](std::size_t k) { return bad(k) && halfway(new_w[k], p.half); });
    std::string why;
    if (tie < p.n) {
      i = tie;
      why = fmt::format("; new_w[{}] is exactly halfway between two {} numbers: the even one (last bit 0) is right", i,
                        p.half ? "fp16" : "bf16");
    } else if (p.half && (nearest(i) & 0x7FFF) == 0x7C00) {
      why = fmt::format("; {:04x} is {}inf: fp16 ends at 65504 (7bff), and a value that rounds to more becomes inf",
                        nearest(i), nearest(i) >> 15 != 0 ? "-" : "");
    }
    auto cut_off = [&](std::size_t k) { return got[k] == std::bit_cast<std::uint32_t>(new_w[k]) >> 16; };
    auto otherwise = [&](std::size_t k) { return bad(k) && !cut_off(k); };
    constexpr std::size_t kFew = 16;  // of them, some would be cut off by chance
    if (!p.half && p.n > kFew && first_where(p.n, otherwise) == p.n)
      why = "; all weights that are wrong are the upper halves of new_w: bits are cut off, not rounded";
    return wrong(fmt::format("weights[{}] has the bits {:04x}, and the nearest {} to new_w[{}] = {:.9g} has {:04x}{}",
                             i, got[i], p.half ? "fp16" : "bf16", i, new_w[i], nearest(i), why),
                 "weights that are not the nearest 16-bit numbers to the master weights");
  }
  static bool halfway(float x, bool half) {
    if (!half) return (std::bit_cast<std::uint32_t>(x) & 0xFFFF) == 0x8000;
    const double a = std::fabs(double{x});
    if (a == 0 || a > 65504) return false;
    const double units = std::ldexp(a, 10 - std::max(std::ilogb(a), -14));
    return units - std::floor(units) == 0.5;
  }
};

}  // namespace

std::unique_ptr<TaskCheck> adamw() { return std::make_unique<AdamW>(); }

}  // namespace ridge::lab::mixed_precision
