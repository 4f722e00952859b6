// Top-k with error feedback.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ceilings/profile.hpp"
#include "common.hpp"
#include "compressed_rules.hpp"

namespace ridge::lab::ddp {

namespace {

// Sizes of a case: n, k, 1 where many magnitudes are equal.
class Compressed : public TaskCheck {
 public:
  // by_host: the host chooses, and nothing is measured.
  explicit Compressed(bool by_host) : by_host_(by_host) {}
  std::string id() const override { return by_host_ ? "compressed_host" : "compressed"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 37, 37, false);
      add(all, p, 61, 7, false);
      add(all, p, 257, 31, false);  // one more than a block of threads often has
      add(all, p, 1000 + 13 * p, 100 + p, true);
      if (r.mode == Mode::grade)
        add(all, p, random_size(r.seed, 2000, 9000), random_size(r.seed + 1, 100, 1900), p > 1);
    }
    if (r.ranks.empty() || by_host_) return all;
    const bool gpu = r.backend == Backend::cuda;
    const std::int64_t n = r.mode == Mode::check ? (gpu ? 1 << 22 : 1 << 17) : (gpu ? 1 << 24 : 1 << 18);
    add(all, gpu ? r.ranks.back() : std::min(4, r.ranks.back()), n, n / 256, false);
    if (!gpu) all.back().topology = "ethernet";
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]), k = static_cast<std::size_t>(c.size[1]);
    return {{4 * n, 4 * n}, {4 * n, 4 * n}, 4 * n + 8 * k * (static_cast<std::size_t>(c.ranks) + 1) + 65536};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    for (std::size_t b : {std::size_t{0}, std::size_t{1}}) {
      const auto values = floats(in[b]);
      if (c.size[2] == 0) {
        fill_lognormal(values, seed + b, 1.5);
        continue;
      }
      // -2.5 to 2.5 in halves, without 0; sums of both are among few numbers, and exact.
      std::vector<std::int32_t> few(values.size());
      fill_integers(few, seed + b, 0, 9);
      for (std::size_t i = 0; i < few.size(); ++i)
        values[i] = 0.5f * static_cast<float>(few[i] < 5 ? few[i] - 5 : few[i] - 4);
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    Verdict v = compare(c, in, out);
    if (v.ok || v.check != "correct") return v;
    if (untouched(in, out, static_cast<std::size_t>(c.ranks))) {
      drop_guess(v);
      v.message += "; the residual is as it came, and mean is 0", v.cause = Cause::none;
      return v;
    }
    if (v.cause != Cause::none && v.cause != Cause::one_factor) return v;
    const std::string rule =
        compression_behind(in, out, static_cast<std::size_t>(c.size[1]), static_cast<std::size_t>(c.ranks), by_host_);
    if (rule.empty()) return v;
    drop_guess(v);
    v.message += "; the residuals and the mean are those of a program " + rule, v.cause = Cause::none;
    return v;
  }
  void tell_of_messages(const Case& c, std::span<const Message> messages, Verdict& failed) const override {
    if (!failed.message.ends_with("mean is 0")) return;
    if (c.ranks > 1 && messages.empty()) failed.message += ", and no rank has sent a message";
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const auto p = static_cast<std::uint64_t>(c.ranks), k = static_cast<std::uint64_t>(c.size[1]);
    const std::uint64_t most = 8 * k * p * (p - 1);
    const std::uint64_t dense = 8 * (p - 1) * static_cast<std::uint64_t>(c.size[0]);
    if (const Traffic t(c, messages); t.bytes > most)
      return refused(fmt::format(
          "all ranks together send {} bytes, and 8 k p (p - 1) = {} would do{}", t.bytes, most,
          t.bytes == dense ? fmt::format(": an all-reduce of all {} floats sends so much, with their zeros", c.size[0])
                           : ""));
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", 8 * n, 8 * n};
  }
  // An all-reduce of all n elements, on the links of collectives/topologies/ethernet.toml. A few of them take far less, but
  // no less than a fiftieth.
  std::vector<Bound> bounds(const Case& c) const override {
    constexpr double alpha = 25e-6, beta = 2.94e9;
    const double p = c.ranks, bytes = 4 * static_cast<double>(c.size[0]);
    return {{"virtual_time_over_bound",
             ridge::default_profile().device.at("kernel_latency") + 2 * (p - 1) * (alpha + bytes / (p * beta)), 0.02}};
  }
  bool host_reads_inputs() const override { return by_host_; }

 private:
  bool by_host_;

  // Removes what the comparison guesses.
  static void drop_guess(Verdict& v) {
    if (const std::size_t counted = v.message.find(" are wrong"); counted != std::string::npos)
      v.message.resize(counted + std::string_view(" are wrong").size());
  }
  // No residual has changed, and each mean is 0.
  static bool untouched(ConstBuffers in, ConstBuffers out, std::size_t ranks) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto mean = floats(out[2 * r]);
      if (std::memcmp(in[2 * r + 1].data(), out[2 * r + 1].data(), in[2 * r + 1].size()) != 0) return false;
      if (!std::all_of(mean.begin(), mean.end(), [](float x) { return x == 0; })) return false;
    }
    return true;
  }

  Verdict compare(const Case& c, ConstBuffers in, ConstBuffers out) const {
    const auto n = static_cast<std::size_t>(c.size[0]), k = static_cast<std::size_t>(c.size[1]);
    const auto p = static_cast<std::size_t>(c.ranks);
    // For each rank: gradient + residual, with 0 where it is sent, and the elements that are sent.
    std::vector<std::vector<float>> left(p), all(p);
    std::vector<std::vector<std::size_t>> sent(p);
    parallel_for(
        p,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            const auto gradient = floats(in[2 * r]), residual = floats(in[2 * r + 1]);
            all[r].resize(n), sent[r].resize(n);
            for (std::size_t i = 0; i < n; ++i) all[r][i] = gradient[i] + residual[i];
            std::iota(sent[r].begin(), sent[r].end(), std::size_t{0});
            std::nth_element(sent[r].begin(), sent[r].begin() + static_cast<std::ptrdiff_t>(k) - 1, sent[r].end(),
                             [&](std::size_t i, std::size_t j) {
                               const float x = std::fabs(all[r][i]), y = std::fabs(all[r][j]);
                               return x > y || (x == y && i < j);
                             });
            sent[r].resize(k);
            left[r] = all[r];
            for (std::size_t i : sent[r]) left[r][i] = 0;
          }
        },
        1);
    std::vector<double> sum(n), magnitude(n), squares(n);
    for (std::size_t r = 0; r < p; ++r) {
      for (std::size_t i : sent[r]) {
        const double x = all[r][i];
        sum[i] += x, magnitude[i] += std::fabs(x), squares[i] += x * x;
      }
      const auto got = floats(out[2 * r + 1]);
      std::vector<float> residual(got.begin(), got.end());
      for (float& x : residual) x = x == 0 ? 0 : x;  // whatever the sign of 0
      Verdict v = compare_exact<float>(
          residual, [&](std::size_t i) { return left[r][i] == 0 ? 0 : left[r][i]; },
          [&](std::size_t i) { return fmt::format("rank {}, residual[{}]", r, i); });
      if (!v.ok) return v;
    }
    const SumTolerance tolerance = Tolerance{}.of_length(static_cast<double>(p) + 2);
    const double part = 1.0 / static_cast<double>(p);
    for (std::size_t r = 0; r < p; ++r) {
      Verdict v = compare_close<float>(
          floats(out[2 * r]),
          [&](std::size_t i) { return tolerance.of(part * sum[i], part * magnitude[i], part * part * squares[i]); },
          [&](std::size_t i) { return fmt::format("rank {}, mean[{}]", r, i); });
      if (!v.ok) return v;
    }
    return same_bits(out, 2, 0, "mean");
  }

  static void add(std::vector<Case>& all, int ranks, std::int64_t n, std::int64_t k, bool ties) {
    Case c;
    c.ranks = ranks;
    c.size = {n, k, ties ? 1 : 0};
    c.name =
        fmt::format("{} rank{}, n {}, k {}{}", ranks, ranks == 1 ? "" : "s", n, k, ties ? ", equal magnitudes" : "");
    all.push_back(std::move(c));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> compressed_host() { return std::make_unique<Compressed>(true); }
std::unique_ptr<TaskCheck> compressed() { return std::make_unique<Compressed>(false); }

}  // namespace ridge::lab::ddp
