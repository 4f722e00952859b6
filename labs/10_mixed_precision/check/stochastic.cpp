// Task `stochastic` of lab 10: rounding by chance, judged by statistics.
#include <array>
#include <mutex>
#include <random>

#include "checks/share.hpp"
#include "checks/stream.hpp"
#include "checks/wide.hpp"
#include "common.hpp"
#include "draws.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Weights and updates number first, first + 1, ... of a case: n of each.
// Differences just above a bf16: up in one of 800, on average.
void just_above(Bf16* w, float* u, std::size_t n, std::uint64_t seed, std::size_t first) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t bits = random_bits(seed, first + k), more = random_bits(seed + 1, first + k);
    const float sign = bits >> 63 != 0 ? -1.0f : 1.0f;
    w[k] = rounded(sign * (1 + static_cast<float>(bits % 1024) / 1024));
    u[k] = -sign * 0x1p-23f * (32 + static_cast<float>(more % 96));
  }
}
// Far from a power of two: all steps have the same unit.
void below_half_a_unit(Bf16* w, float* u, std::size_t n, std::uint64_t seed, std::size_t first) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t bits = random_bits(seed, first + k), more = random_bits(seed + 1, first + k);
    const float sign = bits >> 63 != 0 ? -1.0f : 1.0f;
    w[k] = rounded(sign * (1.25f + static_cast<float>(bits % 1024) / 2048));
    u[k] = sign * 0x1p-11f * (0.5f + static_cast<float>(more % 4096) / 4096);
  }
}
// From 64 random bits, a and b, an element: some have very large or very small weights, a weight of 0, or an update larger
// than the weight.
RIDGE_WIDE void of_all_sizes(Bf16* w, float* u, std::uint32_t n, const std::uint32_t* a, const std::uint32_t* b) {
#pragma omp simd
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t bits = a[k], more = b[k], top = bits >> 20 & 255, kind = bits >> 14 & 63;
    const bool far = (bits >> 10 & 15) == 1;
    // Of 2, biased by 127: from -100 to 100 or from -8 to 7.
    const std::uint32_t exponent = far ? top - (top >= 201 ? 201u : 0u) + 27 : (top >> 4) + 119;
    const float power = std::bit_cast<float>(exponent << 23), less = std::bit_cast<float>((exponent - 6) << 23);
    const float mantissa = 1 + static_cast<float>(static_cast<std::int32_t>(bits & 1023)) / 1024;
    const float value = (bits >> 31) != 0 ? -mantissa * power : mantissa * power;
    const float size = (static_cast<float>(static_cast<std::int32_t>(more & 65535)) + 0.5f) / 65536 * less;
    float update = (more >> 16 & 1) != 0 ? size : -size;
    update = (more >> 17 & 31) == 7 ? 0.0f : update;
    w[k] = Bf16{kind == 1 ? std::uint16_t{0} : rounded(value).bits};
    u[k] = kind == 2 ? 1.5f * value + update : update;
  }
}
void of_all_sizes(Bf16* w, float* u, std::size_t n, std::uint64_t seed, std::size_t first) {
  std::array<std::uint32_t, kTogether> a, b;
  std::array<Bf16, kTogether> weights;
  std::array<float, kTogether> updates;
  for (std::size_t i = 0; i < n; i += kTogether) {
    const std::size_t count = std::min(kTogether, n - i);
    fill_bits(std::span(a).first(count), seed, first + i);
    fill_bits(std::span(b).first(count), seed + 1, first + i);
    of_all_sizes(weights.data(), updates.data(), static_cast<std::uint32_t>(count), a.data(), b.data());
    copy_past_caches(std::span(w + i, count), weights.data());
    copy_past_caches(std::span(u + i, count), updates.data());
  }
}

// Sizes: n, calls, 1: a chain of calls, 2: differences just above a bf16, seed.
class Stochastic : public TaskCheck {
 public:
  std::string id() const override { return "stochastic"; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, std::int64_t n, std::int64_t calls, int chain, bool measured = false) {
      const auto seed = static_cast<std::int64_t>(random_bits(r.seed, all.size()) >> 1);
      all.push_back({fmt::format("{}n {}", name, n), {n, calls, chain, seed}, measured});
    };
    add("", 1, 1, 0);
    add("three steps and four seeds, ", 20011, 7, 0);
    add("just above a bf16, ", 60013, 1, 2);
    add("64 steps, each below half a unit, ", 3003, 64, 1);
    if (r.mode == Mode::grade) add("three steps and four seeds, ", random_size(r.seed, 20000, 50000), 7, 0);
    if (r.backend == Backend::cpu)
      add("", r.mode == Mode::check ? 1 << 16 : 1 << 18, 1, 0, true);
    else
      add("", fitting(std::int64_t{1} << (r.mode == Mode::check ? 27 : 29), 12, r), 1, 0, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0]), outputs = c.size[2] == 1 ? 1 : at(c.size[1]);
    // The baseline's destination: needed only where it runs.
    return {{n * 2, n * 4}, {((outputs - 1) * padded(n) + n) * 2}, c.measured ? n * 4 : 0};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const std::size_t n = at(c.size[0]);
    const auto w = as<Bf16>(in[0]);
    const auto u = floats(in[1]);
    void (*make)(Bf16*, float*, std::size_t, std::uint64_t, std::size_t) = of_all_sizes;
    if (c.size[2] != 0) make = c.size[2] == 2 ? just_above : below_half_a_unit;
    parallel_for(
        n, [&](std::size_t from, std::size_t end) { make(w.data() + from, u.data() + from, end - from, seed, from); });
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::size_t n = at(c.size[0]);
    if (c.size[2] == 1) return verify_chain(c, in, out);
    std::vector<Draws> all;
    for (std::size_t k = 0; k < at(c.size[1]); ++k) {
      const Draws d{as<Bf16>(in[0]), floats(in[1]), as<Bf16>(out[0]).subspan(k * padded(n), n)};
      if (Verdict v = neighbours_and_chances(d); !v.ok) return v;
      if (Verdict v = unrelated_elements(d); !v.ok) return v;
      all.push_back(d);
    }
    if (all.size() < 7) return {};
    if (Verdict v = far_apart(all[0], all[0]); !v.ok) return v;
    if (Verdict v = far_apart(all[0], all[1]); !v.ok) return v;
    struct Pair {
      std::size_t a, b;
      const char* what;
    };
    for (auto [a, b, what] : {Pair{0, 1, "two steps"},
                              {0, 2, "two seeds"},
                              {0, 3, "two seeds that differ in bit 40"},
                              {1, 2, "step 2 of a seed and step 1 of the next seed"},
                              {0, 5, "steps 1 and 257"},
                              {1, 6, "step 2 of a seed and step 1 of that seed ^ 3, as with a key of seed ^ step"}}) {
      Deviation r;
      for (std::size_t i = 0; i < n; ++i) r.add(product(all[a], all[b], i, i), variance(all[a], all[b], i, i));
      if (r.beyond())
        return wrong(fmt::format("the same elements are rounded up with {}: {:.0f} standard deviations from what "
                                 "independent choices give",
                                 what, r.in_deviations()),
                     "steps or seeds whose random numbers are related");
    }
    if (const std::size_t i = first_where(n, [&](std::size_t k) { return all[0].out[k].bits != all[4].out[k].bits; });
        i < n)
      return wrong(fmt::format("out[{}] is {:.9g}, and {:.9g} when the same seed and step come again: choices are a "
                               "function of seed, step and element alone, so that a run can be repeated",
                               i, static_cast<double>(all[0].out[i]), static_cast<double>(all[4].out[i])),
                   "choices that change when the same seed and step come again");
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "element", n * 6, n * 2};
  }
  // For 8 elements of a lane one call of philox (some 250 instructions of the CPU build), and some 24 for each element.
  std::vector<Bound> bounds(const Case& c) const override {
    return {{"instructions_over_bound", static_cast<double>(c.size[0]) / 256 * 440}};
  }

 private:
  static double product(const Draws& a, const Draws& b, std::size_t i, std::size_t j) { return a.off(i) * b.off(j); }
  static double variance(const Draws& a, const Draws& b, std::size_t i, std::size_t j) {
    return a.variance(i) * b.variance(j);
  }

  // Every element in one pass; of a share, those of blocks.
  static Verdict neighbours_and_chances(const Draws& d) {
    constexpr std::size_t kBins = 16, kBlock = 1 << 14;
    const std::size_t n = d.out.size(), blocks = (n + kBlock - 1) / kBlock;
    std::array<Deviation, kBins + 1> bins;
    std::size_t first = n;
    std::mutex mutex;
    parallel_for(
        blocks,
        [&](std::size_t from, std::size_t to) {
          std::array<Deviation, kBins> part;
          std::size_t bad = n;
          for (std::size_t block = from; block < to; ++block) {
            if (!compares(block, blocks)) continue;
            for (std::size_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
              if (!d.next_to(i)) bad = std::min(bad, i);
              if (const double chance = d.chance(i); chance != 0)
                part[static_cast<std::size_t>(chance * kBins)].add(d.off(i), d.variance(i));
            }
          }
          std::lock_guard lock(mutex);
          first = std::min(first, bad);
          for (std::size_t b = 0; b < kBins; ++b)
            for (Deviation* bin : {&bins[b], &bins[kBins]}) bin->add(part[b].sum, part[b].variance);
        },
        16);
    if (first < n) {
      const auto neighbour = [&](std::uint32_t up) {
        return static_cast<double>(Bf16{static_cast<std::uint16_t>((d.bits(first) >> 16) + up)});
      };
      return wrong(
          fmt::format("out[{}] is {:.9g}: in is {:.9g}, update {:.9g}, in - update {:.9g}, and the bf16 next to it "
                      "{:.9g} and {:.9g}{}",
                      first, static_cast<double>(d.out[first]), static_cast<double>(d.w[first]), d.u[first],
                      d.difference(first), neighbour(0), neighbour(d.chance(first) != 0 ? 1 : 0), not_next(d, first)),
          "a number that is not next to the difference");
    }
    for (std::size_t b = 0; b <= kBins; ++b)
      if (bins[b].beyond()) {
        if (Verdict v = one_number(d); !v.ok) return v;
        return wrong(chances_off(d, b < kBins ? static_cast<double>(b) / kBins : 0,
                                 b < kBins ? static_cast<double>(b + 1) / kBins : 1, bins[b].in_deviations()),
                     "rounding that is not as probable as it should be");
      }
    return {};
  }
  static constexpr std::size_t kWindow = 1 << 20;        // pairs
  static constexpr std::size_t kWorthThreads = 1 << 16;  // elements
  // Neighbours, and elements that are far apart by what blocks and vectors have.
  static Verdict unrelated_elements(const Draws& d) {
    const std::size_t n = d.out.size();
    std::vector<std::size_t> lags;
    for (std::size_t lag = 1; lag <= 32; ++lag) lags.push_back(lag);
    for (std::size_t lag = 64; lag < n; lag *= 2) lags.push_back(lag);
    // In a long answer, windows that are not known in advance: a timed run has hundreds of answers to compare.
    const std::size_t window = compares_all() ? kWindow : kWindow / 4;
    std::vector<std::size_t> starts(lags.size());
    static std::random_device unknown;
    for (std::size_t l = 0; l < lags.size(); ++l)
      if (const std::size_t pairs = n - std::min(n, lags[l]); pairs > window) starts[l] = unknown() % (pairs - window);
    std::vector<Deviation> sums(lags.size());
    parallel_for(
        lags.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t l = from; l < to; ++l) {
            const std::size_t count = std::min(n - std::min(n, lags[l]), window);
            for (std::size_t i = starts[l]; i < starts[l] + count; ++i)
              sums[l].add(product(d, d, i, i + lags[l]), variance(d, d, i, i + lags[l]));
          }
        },
        n < kWorthThreads ? lags.size() : 1);
    for (std::size_t l = 0; l < lags.size(); ++l)
      if (sums[l].beyond())
        return wrong(fmt::format("elements that are {} apart are rounded up {}together: {:.0f} standard deviations "
                                 "from what independent choices give",
                                 lags[l], sums[l].sum < 0 ? "seldom " : "", sums[l].in_deviations()),
                     "elements whose random numbers are related");
    return {};
  }
  // Elements of one answer, or of two, at every distance that groups of four have: a repeated counter shows there.
  static Verdict far_apart(const Draws& a, const Draws& b) {
    constexpr std::ptrdiff_t kTerms = 4096;  // at least: sums of few products have long tails
    const auto n = static_cast<std::ptrdiff_t>(a.out.size());
    std::vector<double> off[2], chances[2];
    for (std::ptrdiff_t i = 0; i < n; ++i)
      for (int k = 0; k < 2; ++k) {
        const Draws& d = k == 0 ? a : b;
        off[k].push_back(d.off(at(i))), chances[k].push_back(d.variance(at(i)));
      }
    const std::size_t lags = n > kTerms ? at(n - kTerms) / 4 : 0;
    const bool one = a.out.data() == b.out.data();
    std::vector<double> deviations(one ? lags : 2 * lags);  // of two answers in both directions
    parallel_for(
        deviations.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t l = from; l < to; ++l) {
            const auto lag = static_cast<std::ptrdiff_t>(4 * (l % lags + 1)) * (l < lags ? 1 : -1);
            Deviation r;
            for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, -lag); i < std::min(n, n - lag); ++i)
              r.add(off[0][at(i)] * off[1][at(i + lag)], chances[0][at(i)] * chances[1][at(i + lag)]);
            deviations[l] = r.beyond() ? r.in_deviations() : 0;
          }
        },
        16);
    for (std::size_t l = 0; l < deviations.size(); ++l)
      if (deviations[l] != 0)
        return wrong(
            fmt::format("elements that are {} apart{} are rounded up {}together: {:.0f} standard deviations "
                        "from what independent choices give{}",
                        4 * (l % lags + 1), one ? "" : " in two steps", deviations[l] < 0 ? "seldom " : "",
                        deviations[l],
                        one ? ""
                            : ". Is the step added to the counter? Then the random numbers of one step are those "
                              "of another, moved along: give the step a word of its own"),
            "elements whose random numbers are related");
    return {};
  }
  // The mean of many walks is right, and no walk goes further than chance explains.
  static Verdict verify_chain(const Case& c, ConstBuffers in, ConstBuffers out) {
    const std::size_t n = at(c.size[0]);
    const auto w = as<Bf16>(in[0]), got = as<Bf16>(out[0]);
    const auto u = floats(in[1]);
    const auto steps = static_cast<double>(c.size[1]);
    Deviation mean;
    for (std::size_t i = 0; i < n; ++i) {
      const double chance = std::fabs(double{u[i]}) * 128, expected = static_cast<double>(w[i]) - steps * double{u[i]};
      const double off = (static_cast<double>(got[i]) - expected) * 128 * (static_cast<double>(w[i]) < 0 ? -1 : 1);
      const double v = steps * chance * (1 - chance);  // in units of 2^-7, the distance of two bf16 here
      if (!(std::fabs(off) <= 8 * std::sqrt(v) + 8))
        return wrong(fmt::format("out[{}] is {:.9g}: {} steps from {:.9g} lead to {:.9g}, give or take {:.2g}", i,
                                 static_cast<double>(got[i]), c.size[1], static_cast<double>(w[i]), expected,
                                 std::sqrt(v) / 128),
                     "weights that do not follow their updates");
      mean.add(off, v);
    }
    if (mean.beyond())
      return wrong(
          fmt::format("after {} small steps the weights are {:.3g} units of bf16 from where they should be on average, "
                      "{:.0f} standard deviations",
                      c.size[1], mean.sum / static_cast<double>(n), std::fabs(mean.in_deviations())),
          "weights that do not follow their updates");
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> stochastic() { return std::make_unique<Stochastic>(); }

}  // namespace ridge::lab::mixed_precision
