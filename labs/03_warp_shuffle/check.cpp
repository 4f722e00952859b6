// Cases, inputs and expected answers of lab 03. scan and compact are exact; reduce, softmax and layernorm are compared
// with double precision, within what rounding explains.
#include "lab/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lab/compare.hpp"

namespace {

using namespace ridge::lab;

constexpr double kUnit = 0x1p-24;       // fp32
constexpr double kLongestChain = 4096;  // additions that an element may pass through (warp_shuffle.hpp)
constexpr double kEpsilon = 1e-5f;      // of layernorm

std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }
std::size_t workspace_for(std::int64_t n) { return (std::size_t{1} << 20) + at(n) / 16; }

// The largest power of two of elements, at most `want`, whose input and output fit in the memory.
std::int64_t fitting(std::int64_t want, const Request& r) {
  while (want > 1024 && static_cast<std::uint64_t>(want) * 8 > r.memory) want /= 2;
  return want;
}

std::int64_t measured_elements(const Request& r) {
  if (r.backend == Backend::cpu) return r.mode == Mode::check ? 1 << 17 : 1 << 20;
  return fitting(r.mode == Mode::check ? std::int64_t{1} << 26 : std::int64_t{1} << 28, r);
}

std::vector<std::int64_t> tried(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, high / 2, high));
  return sizes;
}

// Matrices to measure: on a GPU rows of each length that the goal names.
std::vector<std::array<std::int64_t, 2>> measured_matrices(const Request& r) {
  const std::int64_t n = measured_elements(r);
  if (r.backend == Backend::cpu) return {{n / 1024, 1024}};
  std::vector<std::array<std::int64_t, 2>> all;
  for (std::int64_t cols : {1024, 4096, 16384, 32768}) all.push_back({n / cols, cols});
  return all;
}

std::vector<std::array<std::int64_t, 2>> tried_matrices(const Request& r) {
  std::vector<std::array<std::int64_t, 2>> all = {{1, 1},    {13, 64},   {37, 257},  {3, 1000},
                                                  {2, 9999}, {1, 12288}, {3, 32768}, {300, 1}};
  if (r.mode == Mode::grade) all.push_back({random_size(r.seed, 2, 60), random_size(r.seed + 1, 50, 3000)});
  return all;
}

Where named(const char* what) {
  return [what](std::size_t i) { return fmt::format("{}[{}]", what, i); };
}
Where in_rows(std::size_t cols) {
  return [cols](std::size_t i) { return fmt::format("out[{}][{}]", i / cols, i % cols); };
}

class Reduce : public TaskCheck {
 public:
  std::string id() const override { return "reduce"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 65537}, 300000)) all.push_back({fmt::format("n {}", n), {n}});
    all.push_back({"one large among 300007", {300007, 1}});
    const std::int64_t n = measured_elements(r);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override { return {{at(c.size[0]) * 4}, {4}, workspace_for(0)}; }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto x = floats(in[0]);
    fill_uniform(x, seed);
    if (c.size[1] == 0) return;
    std::fill(x.begin(), x.end(), 1.0f);
    x[random_bits(seed, 0) % 32] = 0x1p24f;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    Reduction terms;
    for (float x : floats(in[0])) terms.add(x);
    Expected e = Tolerance{}.of(terms);
    if (c.size[1] != 0) {  // what a tree of chains that are not too long never exceeds
      e.worst = kLongestChain * kUnit / (1 - kLongestChain * kUnit) * terms.magnitude;
      e.deviation = e.worst / 2;
    }
    Verdict v = compare_close(
        floats(out[0]), [&](std::size_t) { return e; }, [](std::size_t) { return std::string("out"); });
    if (!v.ok && c.size[1] != 0)
      v.message += "; one element is 2^24, all others are 1: a sum that has met it does not see a single 1 any more";
    return v;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // 16 elements a lane, then one number of each warp
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 512}, {"barriers_over_bound", n / 2048}};
  }
};

class Scan : public TaskCheck {
 public:
  std::string id() const override { return "scan"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 4097, 65537}, 300000)) all.push_back({fmt::format("n {}", n), {n}});
    const std::int64_t n = measured_elements(r) * (r.backend == Backend::cpu ? 2 : 1);  // enough tiles to look back at
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{at(c.size[0]) * 4}, {at(c.size[0]) * 4}, workspace_for(c.size[0])};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    auto x = as<std::uint32_t>(in[0]);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint32_t>(random_bits(seed, i));
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = as<std::uint32_t>(in[0]);
    std::vector<std::uint32_t> sums(x.size());
    std::inclusive_scan(x.begin(), x.end(), sums.begin());
    return compare_exact(
        as<std::uint32_t>(out[0]), [&](std::size_t i) { return sums[i]; }, named("out"));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 128}, {"barriers_over_bound", n / 4096 * 3}};
  }
};

class Softmax : public TaskCheck {
 public:
  std::string id() const override { return "softmax"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (auto [rows, cols] : tried_matrices(r)) all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}});
    for (auto [rows, cols] : measured_matrices(r))
      all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = at(c.size[0] * c.size[1]) * 4;
    return {{bytes}, {bytes}, workspace_for(0)};
  }
  // Rows around 0, and around numbers whose exponentials are infinite or 0; some with one element above all others.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto x = floats(in[0]);
    const std::size_t cols = at(c.size[1]);
    fill_normal(x, seed);
    parallel_for(x.size(), [&](std::size_t from, std::size_t to) {
      static constexpr float around[4] = {0, 300, 0, -300};
      for (std::size_t i = from; i < to; ++i) {
        const std::uint64_t row = random_bits(seed + 1, i / cols);
        x[i] = 3 * x[i] + around[row % 4] + (row / 4 % 3 == 0 && i % cols == row / 16 % cols ? 20.0f : 0.0f);
      }
    });
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    std::vector<double> largest(rows), sum(rows);
    parallel_for(
        rows,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            auto row = x.subspan(r * cols, cols);
            largest[r] = *std::max_element(row.begin(), row.end());
            for (float v : row) sum[r] += std::exp(v - largest[r]);
          }
        },
        std::max<std::size_t>(1, (1 << 16) / cols));
    const double of_sum = 8 + std::sqrt(static_cast<double>(cols));
    return compare_close(
        floats(out[0]),
        [&](std::size_t i) {  // an exponent d that is rounded to a float is off by up to |d| units
          const double d = x[i] - largest[i / cols], y = std::exp(d) / sum[i / cols];
          return within_ulps(y, y, of_sum - 2 * d);
        },
        in_rows(cols), 8);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "element", n * 4, n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // 32 elements a lane; a warp writes and reads once
    return {{"shared_requests_over_bound", static_cast<double>(c.size[0] * c.size[1]) / 512},
            {"barriers_over_bound", static_cast<double>(c.size[0])}};
  }
};

class LayerNorm : public TaskCheck {
 public:
  std::string id() const override { return "layernorm"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    std::int64_t k = 0;
    auto add = [&](std::array<std::int64_t, 2> shape, bool measured) {
      static constexpr std::int64_t drops[4] = {26, 0, 128, 255};
      const std::int64_t drop = measured ? 26 : drops[k % 4];
      const auto seed = static_cast<std::int64_t>(random_bits(r.seed, at(++k)) >> 33);
      all.push_back({fmt::format("{} x {}, {} of 256 dropped", shape[0], shape[1], drop),
                     {shape[0], shape[1], seed, drop},
                     measured});
    };
    for (auto shape : tried_matrices(r)) add(shape, false);
    for (auto shape : measured_matrices(r)) add(shape, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t row = at(c.size[1]) * 4, column = at(c.size[0]) * 4, all = at(c.size[0]) * row;
    return {{all, row, row}, {all, column, column}, workspace_for(0)};
  }
  // Rows around 0, and rows whose mean is 1000 or 3000 times their deviation.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto x = floats(in[0]);
    const std::size_t cols = at(c.size[1]);
    fill_normal(x, seed);
    parallel_for(x.size(), [&](std::size_t from, std::size_t to) {
      static constexpr float around[4] = {0, 1000, -30, 5}, spread[4] = {1, 1, 0.01f, 3};
      for (std::size_t i = from; i < to; ++i) {
        const std::uint64_t kind = random_bits(seed + 1, i / cols) % 4;
        x[i] = spread[kind] * x[i] + around[kind];
      }
    });
    fill_uniform(floats(in[1]), seed + 2);
    fill_uniform(floats(in[2]), seed + 3);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]), gamma = floats(in[1]), beta = floats(in[2]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    const auto seed = static_cast<std::uint32_t>(c.size[2]);
    const auto drop = static_cast<std::uint32_t>(c.size[3]);
    struct Row {
      double mean = 0, rstd = 0;
      double mean_error = 0, rstd_error = 0;  // of rstd: relative
    };
    std::vector<Row> of(rows);
    const auto n = static_cast<double>(cols);
    const double sum_error = kUnit * (8 + std::sqrt(n));
    parallel_for(
        rows,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            auto row = x.subspan(r * cols, cols);
            double squares = 0, largest = 0;
            for (float v : row) of[r].mean += v / n, largest = std::max(largest, std::fabs(double{v}));
            for (float v : row) squares += (v - of[r].mean) * (v - of[r].mean);
            of[r].rstd = 1 / std::sqrt(squares / n + kEpsilon);
            of[r].mean_error = sum_error * largest;
            of[r].rstd_error = sum_error + std::pow(of[r].mean_error * of[r].rstd, 2);
          }
        },
        std::max<std::size_t>(1, (1 << 16) / cols));
    auto close = [](double value, double error) {
      error += 1e-37;
      return Expected{value, error / 2, error, std::fabs(value)};
    };
    Verdict v = compare_close(
        floats(out[1]), [&](std::size_t r) { return close(of[r].mean, of[r].mean_error); }, named("mean"));
    if (!v.ok) return v;
    v = compare_close(
        floats(out[2]), [&](std::size_t r) { return close(of[r].rstd, of[r].rstd * of[r].rstd_error); }, named("rstd"));
    if (!v.ok) return v;
    const double scale = 256.0 / (256.0 - drop);
    return compare_close(
        floats(out[0]),
        [&](std::size_t i) {
          if ((bits(seed, static_cast<std::uint32_t>(i / 4)) >> (8 * (i % 4)) & 255u) < drop) return close(0, 0);
          const Row& r = of[i / cols];
          const double g = gamma[i % cols], b = beta[i % cols], z = (x[i] - r.mean) * r.rstd;
          const double error = std::fabs(g) * (r.mean_error * r.rstd + std::fabs(z) * (r.rstd_error + 4 * kUnit)) +
                               4 * kUnit * (std::fabs(z * g) + std::fabs(b));
          return close((z * g + b) * scale, error * scale);
        },
        in_rows(cols), 8);
  }
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), cols = static_cast<double>(c.size[1]), n = rows * cols;
    return {n, "element", n * 4 + cols * 8, n * 4 + rows * 8};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // two sums a row; a barrier for each, shared by 4 rows
    return {{"shared_requests_over_bound", static_cast<double>(c.size[0] * c.size[1]) * 48 / 8192},
            {"barriers_over_bound", static_cast<double>(c.size[0]) / 2}};
  }

 private:
  // dropout_bits of warp_shuffle.hpp, which the judge can't include: it has no CUDA headers.
  static std::uint32_t bits(std::uint32_t seed, std::uint32_t q) {
    std::uint32_t h = q * 0x9E3779B1u + seed;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
  }
};

class Compact : public TaskCheck {
 public:
  std::string id() const override { return "compact"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 65537}, 300000)) all.push_back({fmt::format("n {}", n), {n}});
    all.push_back({"n 5003, all kept", {5003, 1}});
    all.push_back({"n 5003, none kept", {5003, 2}});
    const std::int64_t n = measured_elements(r) * (r.backend == Backend::cpu ? 2 : 1);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{at(c.size[0]) * 4}, {at(c.size[0]) * 4, 4}, workspace_for(c.size[0])};
  }
  // Both signs, and zeros of both signs, one in 16, which are not kept.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto x = floats(in[0]);
    fill_normal(x, seed);
    parallel_for(x.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (c.size[1] == 1) x[i] = std::fabs(x[i]) + 0.125f;
        if (c.size[1] == 2) x[i] = -std::fabs(x[i]);
        if (c.size[1] == 0 && random_bits(seed + 1, i) % 16 == 0) x[i] = std::copysign(0.0f, x[i]);
      }
    });
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    std::vector<float> kept;
    for (float x : floats(in[0]))
      if (x > 0) kept.push_back(x);
    const auto count = static_cast<std::uint32_t>(kept.size());
    Verdict v = compare_exact(
        as<std::uint32_t>(out[1]), [&](std::size_t) { return count; },
        [](std::size_t) { return std::string("count"); });
    if (!v.ok) return v;
    return compare_exact(
        floats(out[0]).first(count), [&](std::size_t i) { return kept[i]; }, named("out"));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4 * 15 / 32};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 16}, {"barriers_over_bound", n / 4096 * 3}};
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Reduce>());
  checks.push_back(std::make_unique<Scan>());
  checks.push_back(std::make_unique<Softmax>());
  checks.push_back(std::make_unique<LayerNorm>());
  checks.push_back(std::make_unique<Compact>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("03_warp_shuffle", make);

}  // namespace
