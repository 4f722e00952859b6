// Task `speculate`: each token against the rule, and the distribution of the first one against the target's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checks/compare.hpp"
#include "checks/share.hpp"
#include "checks/wide.hpp"
#include "tasks.hpp"

namespace ridge::lab::serving {

namespace {

RIDGE_WIDE double sum_of_magnitudes(const float* x, std::size_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += std::fabs(x[i]);
  return sum;
}
RIDGE_WIDE void scale_magnitudes(float* x, std::size_t n, float by) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) x[i] = std::fabs(x[i]) * by;
}
// A draft is near the target, so that most tokens are accepted.
RIDGE_WIDE void mix(float* draft, const float* target, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) draft[i] = 0.6f * target[i] + 0.4f * draft[i];
}

// Sizes: batch, drafted, vocabulary, 1 where all sequences have the same probabilities.
class Speculate : public TaskCheck {
 public:
  std::string id() const override { return "speculate"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 4> s, bool measured = false) {
      all.push_back({fmt::format("batch {}, {} drafted, vocabulary {}{}", s[0], s[1], s[2],
                                 s[3] != 0 ? ", one distribution" : ""),
                     {s[0], s[1], s[2], s[3]},
                     measured});
    };
    add({1, 1, 2, 0}), add({2000, 3, 7, 1}), add({37, 4, 333, 0}), add({9, 16, 1000, 0});
    if (r.mode == Mode::grade) add({4000, 2, 11, 1}), add({21, 5, random_size(r.seed, 300, 900), 0});
    if (r.backend == Backend::cpu)
      add({r.mode == Mode::check ? 12 : 24, 5, 4096, 0}, true);
    else
      add({64, 2, 32000, 0}, true);
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const std::size_t b = n(c, 0), k = n(c, 1), v = n(c, 2);
    return {{b * (k + 1) * v * 4, b * k * v * 4, b * (k + 1) * 4, (b * (k + 1)) * 4}, {b * (k + 1) * 4, 2 * b * 4}};
  }
  // in[2]: the drafted tokens, then the lengths. in[3]: the random numbers.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const std::size_t b = n(c, 0), k = n(c, 1), v = n(c, 2);
    const auto p = floats(in[0]), q = floats(in[1]), u = floats(in[3]);
    const auto x = as<std::int32_t>(in[2]);
    auto fill_sequence = [&](std::size_t s) {
      const std::uint64_t of = c.size[3] != 0 ? seed : random_bits(seed, s);
      for (std::size_t i = 0; i <= k; ++i) {
        float* row = p.data() + (s * (k + 1) + i) * v;
        distribution({row, v}, random_bits(of, 2 * i));
        if (i == k) break;
        float* drafted = q.data() + (s * k + i) * v;
        distribution({drafted, v}, random_bits(of, 2 * i + 1));
        mix(drafted, row, v);
        x[s * k + i] = static_cast<std::int32_t>(drawn({drafted, v}, uniform(random_bits(seed, s), 100 + i)));
      }
      for (std::size_t i = 0; i <= k; ++i) u[s * (k + 1) + i] = uniform(random_bits(seed, s), 200 + i);
      x[b * k + s] = static_cast<std::int32_t>(1 + random_bits(seed, 7000 + s) % 5000);
    };
    parallel_for(
        b,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t s = from; s < to; ++s) fill_sequence(s);
        },
        std::max<std::size_t>(1, (std::size_t{1} << 18) / (k * v)));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::size_t b = n(c, 0), k = n(c, 1);
    const auto tokens = as<std::int32_t>(out[0]), lengths = as<std::int32_t>(out[1]);
    const auto before = as<std::int32_t>(in[2]).subspan(b * k);
    for (std::size_t s = 0; s < b; ++s) {
      if (!compares(s, b)) continue;
      const Row row = row_of(c, in, s);
      const auto* got = &tokens[s * (k + 1)];
      if (row.doubtful) {
        if (Verdict v = verify_doubtful(c, {got, k + 1}, s, lengths[s] - before[s], lengths[b + s] - before[s]); !v.ok)
          return v;
        continue;
      }
      for (std::size_t i = 0; i <= k; ++i) {
        const std::string where = fmt::format("tokens[{}][{}]", s, i);
        if (got[i] != -1 && judges_fill(static_cast<std::uint32_t>(got[i])))
          return {false, where + " was not written", "a token was not written"};
        if (i < row.accepted && got[i] != row.x[i])
          return {false,
                  fmt::format("{} is {}, expected {}: it was accepted, {} of {} were", where, got[i], row.x[i],
                              row.accepted, k),
                  "an accepted token is missing"};
        if (i > row.accepted && got[i] != -1)
          return {false,
                  fmt::format("{} is {}, expected -1: {} of {} tokens were accepted, and one follows", where, got[i],
                              row.accepted, k),
                  "a token after the end"};
        if (i == row.accepted && !possible(row, got[i])) return wrong_token(row, where, got[i], k);
      }
      const int accepted = static_cast<int>(row.accepted);
      const int target = before[s] + accepted + 1, draft = before[s] + std::min(accepted + 1, static_cast<int>(k));
      if (lengths[s] != target)
        return {false,
                fmt::format("target_length[{}] is {}, expected {}: {} tokens before, the round's first input, and {} "
                            "accepted of {}",
                            s, lengths[s], target, before[s], accepted, k),
                "the length of the target's cache"};
      if (lengths[b + s] != draft)
        return {false,
                fmt::format("draft_length[{}] is {}, expected {}: {} tokens before, and {} accepted of {}; the last "
                            "drafted token was no input of the draft model",
                            s, lengths[b + s], draft, before[s], accepted, k),
                "the length of the draft's cache"};
    }
    return c.size[3] != 0 ? verify_distribution(c, in, tokens) : Verdict{};
  }
  Work work(const Case& c) const override {
    const double rows = static_cast<double>(c.size[0] * c.size[2]);
    return {4 * rows, "operation", 6 * rows, 4 * static_cast<double>(c.size[0] * (c.size[1] + 3))};
  }
  // Two rows a sequence, a tile of each again, and two numbers for each drafted token.
  std::vector<Bound> bounds(const Case& c) const override {
    const double b = static_cast<double>(c.size[0]), k = static_cast<double>(c.size[1]),
                 v = static_cast<double>(c.size[2]);
    return {{"load_sectors_over_bound", b * (2 * v * 4 / 32 + 2 * 256 * 4 / 32.0 + 2 * k + 12)}};
  }

 private:
  static std::size_t n(const Case& c, std::size_t i) { return static_cast<std::size_t>(c.size[i]); }
  static float uniform(std::uint64_t seed, std::size_t i) {
    return static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-24f;
  }
  static void distribution(std::span<float> to, std::uint64_t seed) {
    fill_lognormal(to, seed, 0, 1.5f);
    scale_magnitudes(to.data(), to.size(), static_cast<float>(1 / sum_of_magnitudes(to.data(), to.size())));
  }
  static std::size_t drawn(std::span<const float> p, float u) {
    constexpr std::size_t kBlock = 256;
    double sum = 0;
    std::size_t t = 0;
    for (; t + kBlock < p.size(); t += kBlock) {
      const double block = sum_of_magnitudes(p.data() + t, kBlock);
      if (sum + block > double{u}) break;
      sum += block;
    }
    for (; t < p.size(); ++t)
      if ((sum += p[t]) > double{u}) return t;
    return p.size() - 1;
  }

  struct Row {
    std::size_t accepted = 0;
    bool doubtful = false;  // rounding decides
    const std::int32_t* x;
    std::span<const float> p, q;  // at the first rejected token; q is empty where all were accepted
    double u;
    double residual(std::size_t t) const { return q.empty() ? p[t] : std::max(0.0, double{p[t]} - q[t]); }
  };
  static Row row_of(const Case& c, ConstBuffers in, std::size_t s) {
    const std::size_t k = n(c, 1), v = n(c, 2);
    const auto p = floats(in[0]).subspan(s * (k + 1) * v), q = floats(in[1]).subspan(s * k * v),
               u = floats(in[3]).subspan(s * (k + 1));
    Row row;
    row.x = as<std::int32_t>(in[2]).data() + s * k;
    for (; row.accepted < k; ++row.accepted) {
      const std::size_t i = row.accepted, t = static_cast<std::size_t>(row.x[i]);
      const double left = double{u[i]} * q[i * v + t], right = p[i * v + t];
      row.doubtful = row.doubtful || std::fabs(left - right) < 1e-6 * right;
      if (!(left < right)) break;
    }
    row.p = p.subspan(row.accepted * v, v);
    if (row.accepted < k) row.q = q.subspan(row.accepted * v, v);
    row.u = u[k];
    return row;
  }
  // Sums in floats may be off by a little: the token's neighbours in the sum count where u is near its ends.
  static bool possible(const Row& row, std::int32_t token) {
    const std::size_t v = row.p.size();
    if (token < 0 || static_cast<std::size_t>(token) >= v) return false;
    double total = 0, before = 0;
    for (std::size_t t = 0; t < v; ++t) {
      if (t == static_cast<std::size_t>(token)) before = total;
      total += row.residual(t);
    }
    if (total == 0 && !row.q.empty()) return token == row.x[row.accepted];
    if (row.residual(static_cast<std::size_t>(token)) == 0) return false;
    const double wanted = row.u * total, slack = 1e-5 * total + 1e-7;  // p - q cancels
    return wanted >= before - slack && wanted < before + row.residual(static_cast<std::size_t>(token)) + slack;
  }
  static Verdict wrong_token(const Row& row, const std::string& where, std::int32_t got, std::size_t k) {
    std::string told = fmt::format("{} is {}", where, got), kind = "a drawn token";
    const bool all = row.accepted == k;
    told +=
        all ? fmt::format(
                  ": all {} drafted tokens were accepted, and one more follows, drawn from the target's last row", k)
            : fmt::format(": token {} was rejected, and another one must be drawn from max(0, p - q) with u = {:.4f}",
                          row.accepted, row.u);
    if (got == -1) {
      told += all ? "; the bonus token is missing" : "; it is missing";
      kind = "the last token is missing";
    } else if (!all && static_cast<std::size_t>(got) == drawn(row.p, static_cast<float>(row.u))) {
      told += "; that is a draw from p, which has been tried already";
      kind = "drawn from the target in place of the residual";
    } else if (!all && got == row.x[row.accepted]) {
      told += "; that is the rejected token";
    }
    return {false, told, kind};
  }
  // Rounding decides how many tokens stay, but not that they are tokens, nor that the lengths fit them.
  static Verdict verify_doubtful(const Case& c, std::span<const std::int32_t> got, std::size_t s, int target,
                                 int draft) {
    const auto end = std::find(got.begin(), got.end(), -1);
    const auto stay = static_cast<int>(end - got.begin());
    auto is_token = [&](std::int32_t t) { return t >= 0 && t < c.size[2]; };
    if (stay == 0 || !std::all_of(got.begin(), end, is_token) ||
        !std::all_of(end, got.end(), [](std::int32_t t) { return t == -1; }))
      return {false,
              fmt::format("tokens[{}] is {}: expected are tokens of the vocabulary, at least one, and -1 after them", s,
                          fmt::join(got, " ")),
              "tokens of the vocabulary, and -1 after them"};
    if (target == stay && draft == std::min(stay, static_cast<int>(c.size[1]))) return {};
    return {false,
            fmt::format("sequence {} has {} tokens more, but the valid part of the target's cache grows by {} and "
                        "that of the draft's by {}",
                        s, stay, target, draft),
            "lengths that do not fit the tokens"};
  }
  // Chi-squared of the first token of all sequences. All of them are tokens of the vocabulary.
  static Verdict verify_distribution(const Case& c, ConstBuffers in, std::span<const std::int32_t> tokens) {
    const std::size_t b = n(c, 0), k = n(c, 1), v = n(c, 2);
    std::vector<double> counts(v);
    for (std::size_t s = 0; s < b; ++s) counts[static_cast<std::size_t>(tokens[s * (k + 1)])] += 1;
    const auto p = floats(in[0]);
    double chi = 0;
    for (std::size_t t = 0; t < v; ++t) {
      const double expected = p[t] * static_cast<double>(b);
      chi += (counts[t] - expected) * (counts[t] - expected) / expected;
    }
    const double most = static_cast<double>(v) + 12 * std::sqrt(2.0 * static_cast<double>(v)) + 20;
    if (chi < most) return {};
    return {false,
            fmt::format("the first tokens of {} sequences do not have the target's distribution: chi-squared is {:.0f} "
                        "with {} degrees of freedom",
                        b, chi, v - 1),
            "not the target's distribution"};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> speculate() { return std::make_unique<Speculate>(); }

}  // namespace ridge::lab::serving
