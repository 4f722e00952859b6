// Task `loss_scaler` of lab 10: overflows found, the scale kept.
#include <cstring>

#include "checks/stream.hpp"
#include "checks/wide.hpp"
#include "common.hpp"

namespace ridge::lab::mixed_precision {

namespace {

constexpr std::size_t kMany = 1 << 24;

// The bits of the exponent, and the lowest of them.
template <class U>
constexpr U kExponent = static_cast<U>(sizeof(U) == 2 ? 0x7C00u : 0x7F800000u);
template <class U>
constexpr U kLeast = static_cast<U>(kExponent<U>&(~kExponent<U> + 1u));

// From random bits: finite numbers of all sizes, and many that are the largest.
template <class U>
inline void make_finite(U* x, std::uint32_t n) {
  constexpr U largest = static_cast<U>(kExponent<U> - 1);
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const U bits = x[i];
    const U small = (bits & kExponent<U>) == kExponent<U> ? static_cast<U>(bits ^ kLeast<U>) : bits;
    x[i] = (bits & 31) == 7 ? largest : small;
  }
}
RIDGE_WIDE void finite(std::uint16_t* x, std::uint32_t n) { make_finite(x, n); }
RIDGE_WIDE void finite(std::uint32_t* x, std::uint32_t n) { make_finite(x, n); }

// Sizes: n, steps, interval, type, log2 of the first scale.
class Scaler : public TaskCheck {
 public:
  std::string id() const override { return "loss_scaler"; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, std::int64_t n, std::int64_t steps, int interval, int type, int scale,
                   bool measured = false) {
      all.push_back({fmt::format("{}n {}", name, n), {n, steps, interval, type, scale}, measured});
    };
    add("20 steps, ", 1, 20, 3, 0, 16);
    add("20 steps, ", 4099, 20, 2, 0, 10);
    add("20 steps from the least scale, ", 1031, 20, 4, 0, 0);
    add("20 steps from the largest scale, ", 77, 20, 1, 0, 40);
    add("20 steps in fp32, ", 2055, 20, 2, 1, 16);
    add("9 steps in fp32, ", 70003, 9, 1, 1, 16);
    add("9 steps, ", 70001, 9, 2, 0, 16);
    if (r.mode == Mode::grade) {
      add("20 steps, ", random_size(r.seed, 2000, 9000), 20, 2, 0, 12);
      add("more than one round of a full GPU, ", random_size(r.seed, 6'000'000, 7'000'000), 1, 1, 1, 16);
    }
    if (r.backend == Backend::cpu)
      add("", r.mode == Mode::check ? 1 << 18 : 1 << 20, 1, 2000, 0, 16, true);
    else
      add("", fitting(std::int64_t{1} << (r.mode == Mode::check ? 28 : 30), 4, r), 1, 2000, 0, 16, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0]), element = c.size[3] == 0 ? 2 : 4, steps = at(c.size[1]);
    return {{((steps - 1) * padded(n) + n) * element, sizeof(LossScale)},
            {steps * sizeof(LossScale)},
            std::max<std::size_t>(std::size_t{1} << 16, c.measured ? n : 0)};  // n: where the baseline copies to
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const std::size_t n = at(c.size[0]), steps = at(c.size[1]);
    if (c.size[3] == 0)
      fill_gradients(as<std::uint16_t>(in[0]), n, steps, seed, c.measured);
    else
      fill_gradients(as<std::uint32_t>(in[0]), n, steps, seed, c.measured);
    const float scale = std::ldexp(1.0f, static_cast<int>(c.size[4]));
    as<LossScale>(in[1])[0] = {scale, 2 / scale, c.size[2] > 1 ? 1 : 0, 5, 1};
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::size_t n = at(c.size[0]);
    LossScale s = as<LossScale>(in[1])[0];
    for (std::size_t k = 0; k < at(c.size[1]); ++k) {
      const std::size_t place = broken_in(c, in, k);
      const bool found = place < n;
      const LossScale before = s, &got = as<LossScale>(out[0])[k];
      s = after(s, found, c.size[2]);
      if (std::memcmp(&s, &got, sizeof s) == 0) continue;
      auto told = [](const LossScale& x) {
        return fmt::format("scale {}{}, unscale {}, good_steps {}, updates {}, skip {}", power(x.scale),
                           std::isnan(x.scale) ? " (never written?)" : "", power(x.unscale), x.good_steps, x.updates,
                           x.skip);
      };
      return wrong(
          fmt::format(
              "after step {} of interval {}, whose gradients {}: {}; expected {}; before: {}{}{}", k, c.size[2],
              found ? fmt::format("have {} at {} of {}", kNames[kind(c, in, k, place)], place, n) : "are all finite",
              told(got), told(s), told(before), k % 3 == 2 ? ". Here next and state are the same memory" : "",
              why(c, in, as<LossScale>(out[0]), k, before, s)),
          found ? "a state after an overflow" : "a state after a good step");
    }
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "element", n * (c.size[3] == 0 ? 2 : 4) + 20, 20};
  }
  // An operation that clears the flag, and one kernel.
  std::vector<Bound> bounds(const Case&) const override { return {{"launches_over_bound", 2}}; }

 private:
  static constexpr const char* kNames[] = {"+inf", "-inf", "a NaN"};
  static std::size_t kind(const Case& c, ConstBuffers in, std::size_t k, std::size_t place) {
    const std::size_t i = k * padded(at(c.size[0])) + place;
    const std::uint32_t bits =
        c.size[3] == 0 ? std::uint32_t{as<std::uint16_t>(in[0])[i]} << 16 : as<std::uint32_t>(in[0])[i];
    if ((bits & (c.size[3] == 0 ? 0x3FFFFFFu : 0x7FFFFFu)) != 0) return 2;
    return bits >> 31;
  }
  // The place of step k's first inf or NaN; n where there is none.
  static std::size_t broken_in(const Case& c, ConstBuffers in, std::size_t k) {
    const std::size_t n = at(c.size[0]);
    return c.size[3] == 0 ? broken(as<std::uint16_t>(in[0]).subspan(k * padded(n), n))
                          : broken(as<std::uint32_t>(in[0]).subspan(k * padded(n), n));
  }
  // What step k, the first that is wrong, got wrong.
  static std::string why(const Case& c, ConstBuffers in, std::span<const LossScale> out, std::size_t k,
                         const LossScale& before, const LossScale& expected) {
    const LossScale& got = out[k];
    const bool found = expected.skip == 1;
    auto is = [&](const LossScale& x) { return std::memcmp(&x, &got, sizeof x) == 0; };
    if (found && got.skip == 0) return unseen(c, in, out);
    if (!found && is(after(before, true, c.size[2])))
      return ". That is the state after an overflow: was a large finite number taken for an inf?";
    LossScale x = expected;
    if (x.unscale = 1 / x.scale; is(x))
      return ". unscale belongs to the gradients of this step, so to the scale before it changes";
    if (x = expected, x.updates = before.updates + 1; found && is(x))
      return k % 3 == 2 && overflows_apart(in, c, k)
                 ? ", and earlier overflows, with next and state apart, were right. Was *next written before the last "
                   "read of *state?"
                 : ". A skipped step is no update";
    if (got.updates > expected.updates + (found ? 1 : 0))
      return fmt::format(". updates has grown by {}: does more than one block or thread change the state?",
                         got.updates - before.updates);
    if (x = expected, x.good_steps = before.good_steps; found && is(x))
      return ". good_steps begins again at 0 after an overflow";
    if (x = expected, x.scale = before.scale; found && is(x)) return ". The scale must be halved after an overflow";
    if (x = expected, x.scale = before.scale / 2; found && is(x)) return ". The scale stays at kLeastScale or above";
    return {};
  }
  // Whether an earlier step than k, whose next was not its state, had an overflow.
  static bool overflows_apart(ConstBuffers in, const Case& c, std::size_t k) {
    for (std::size_t j = 0; j < k; ++j)
      if (j % 3 != 2 && broken_in(c, in, j) < at(c.size[0])) return true;
    return false;
  }
  // Which overflows of this case are not seen: by place, else by kind. A step has one.
  static std::string unseen(const Case& c, ConstBuffers in, std::span<const LossScale> out) {
    constexpr std::size_t kLoad = 8;          // elements that a thread takes at a time, perhaps
    constexpr std::size_t kFewBlocks = 5000;  // elements; each type has a case with no more, before those with more
    const std::size_t n = at(c.size[0]), first_of_rest = n / kLoad * kLoad;
    std::size_t all[3] = {}, missed[3] = {}, seen_of_rest = 0, missed_before = 0, count = 0, missing = 0;
    std::string told, seen_at, missed_at;
    for (std::size_t k = 0; k < at(c.size[1]); ++k)
      if (const std::size_t place = broken_in(c, in, k); place < n) {
        const std::size_t of = kind(c, in, k, place);
        const bool is_missed = out[k].skip == 0;
        ++all[of], missed[of] += is_missed ? 1u : 0u, ++count, missing += is_missed ? 1u : 0u;
        if (is_missed && place < first_of_rest) ++missed_before;
        if (!is_missed && place >= first_of_rest) ++seen_of_rest;
        std::string& list = is_missed ? missed_at : seen_at;
        list += fmt::format("{}{} at {}", list.empty() ? "" : ", ", kNames[of], place);
      }
    for (std::size_t of = 0; of < 3; ++of)
      if (all[of] > 0)
        told += fmt::format("{}{} of {} with {}", told.empty() ? "" : ", ", missed[of], all[of], kNames[of]);
    const std::string by_kind = ". Overflows of this case that are not seen: " + told;
    if (missing == count && n < kLoad)
      return by_kind + fmt::format(
                           ". n is {}: where a thread takes several elements at a time, these are the rest. Are the "
                           "last n % {} elements looked at?",
                           n, kLoad);
    if (missed_before == 0 && seen_of_rest == 0 && missing < count)
      return fmt::format(
          ". Overflows of this case that are not seen: {}. They are all in the last n % {} elements, and "
          "those before are seen",
          missed_at, kLoad);
    if (n > kFewBlocks && missing < count)
      return fmt::format(
          ". Seen: {}. Not seen: {}. With fewer elements, in the cases before, inf and NaN are seen, so "
          "the place matters and not the kind: does every block tell what it finds?",
          seen_at, missed_at);
    return by_kind;
  }

  // The place of the first inf or NaN; the size where there is none.
  template <class U>
  static std::size_t broken(std::span<const U> x) {
    return first_where(x.size(), [&](std::size_t i) { return (x[i] & kExponent<U>) == kExponent<U>; });
  }
  static std::string power(float x) {
    int exponent = 0;
    return std::frexp(x, &exponent) == 0.5f ? fmt::format("2^{}", exponent - 1) : fmt::format("{}", x);
  }
  // Finite numbers of all sizes; in some steps one element, or the last one, is an inf or a NaN. A single step has its inf
  // in the last eighth. fine: no step has, but for every second one of a size that only GPUs measure, late in its last 64th:
  // else its size alone would tell the answer, and an early end of the search would count as speed.
  template <class U>
  static void fill_gradients(std::span<U> all, std::size_t n, std::size_t steps, std::uint64_t seed, bool fine) {
    constexpr U exponent = kExponent<U>, sign = static_cast<U>(exponent + kLeast<U>);
    for (std::size_t k = 0; k < steps; ++k) {
      const auto x = all.subspan(k * padded(n), n);
      constexpr std::size_t kPart = kTogether * 4 / sizeof(U);
      const std::size_t parts = (n + kPart - 1) / kPart;
      parallel_for(
          parts,
          [&](std::size_t from, std::size_t end) {
            std::uint32_t words[kTogether];
            U values[kPart];
            for (std::size_t p = from; p < end; ++p) {
              fill_bits(words, seed + k, p * kTogether);
              std::memcpy(values, words, sizeof values);
              finite(values, kPart);
              copy_past_caches(x.subspan(p * kPart, std::min(kPart, n - p * kPart)), values);
            }
          },
          1024);
      const std::uint64_t draw = random_bits(~seed, k);
      if (fine && (n < kMany || draw >> 63 == 0)) continue;
      const std::size_t place = steps == 1          ? n - 1 - draw % (n / (fine ? 64 : 8))
                                : k == 5 || k == 11 ? n - 1
                                                    : draw % n;
      if (steps == 1 || k == 5 || k == 13)
        x[place] = exponent;  // inf
      else if (k == 8 || k == 11)
        x[place] = static_cast<U>(exponent | exponent >> 1);  // NaN
      else if (k > 0 && (draw >> 32) % 4 == 0)
        x[place] = static_cast<U>(exponent | (draw >> 40 & 1) | ((draw >> 41 & 1) != 0 ? sign : 0));
    }
  }
};

}  // namespace

std::unique_ptr<TaskCheck> loss_scaler() { return std::make_unique<Scaler>(); }

}  // namespace ridge::lab::mixed_precision
