// Cases, inputs and expected answers of test lab 90.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "checks/compare.hpp"
#include "checks/freivalds.hpp"

namespace {

using namespace ridge::lab;

std::string element(std::size_t i) { return fmt::format("y[{}]", i); }
std::size_t size(const Case& c, int i) { return static_cast<std::size_t>(c.size[static_cast<std::size_t>(i)]); }
bool small(const Request& r) { return r.backend == Backend::cpu; }

class Scale : public TaskCheck {
 public:
  std::string id() const override { return "scale"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : {std::int64_t{1}, random_size(r.seed, 1000, 5000)})
      all.push_back({fmt::format("n {}", n), {n}});
    std::int64_t n = small(r) ? random_size(r.seed + 1, 1 << 16, 70000) : (std::int64_t{1} << 24) + 77;
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override { return {{size(c, 0) * 4, 4}, {size(c, 0) * 4}}; }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed, 0.01f, 4.0f);
    fill_uniform(floats(in[1]), seed + 1);
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    const double a = floats(in[1])[0];
    return compare_close(
        floats(out[0]),
        [&](std::size_t i) {
          const double line = a * double{x[i]}, power = std::exp(double{x[i]});
          return within_ulps(line + power, std::fabs(line) + power, 8);
        },
        element);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {2 * n, "flop", 4 * n, 4 * n};
  }
};

class Sum : public TaskCheck {
 public:
  std::string id() const override { return "sum"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t rows, std::int64_t cols, bool measured = false) {
      all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, measured});
    };
    add(1, 1);
    add(random_size(r.seed, 35, 200), random_size(r.seed + 1, 35, 200));
    add(3, random_size(r.seed + 2, 100000, 110000));
    if (small(r))
      add(random_size(r.seed + 3, 194, 222), random_size(r.seed + 4, 2050, 2140), true);
    else
      add(1027, 16411, true);
    return all;
  }
  Shape shape(const Case& c) const override { return {{size(c, 0) * size(c, 1) * 4}, {size(c, 0) * 4}}; }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_uniform(floats(in[0]), seed); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    const std::size_t cols = size(c, 1);
    return compare_close(
        floats(out[0]),
        [&](std::size_t r) {
          Reduction sum;
          for (std::size_t i = 0; i < cols; ++i) sum.add(x[r * cols + i]);
          return Tolerance{}.of(sum);
        },
        element, cols);
  }
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), n = rows * static_cast<double>(c.size[1]);
    return {n, "flop", 4 * n, 4 * rows};
  }
};

class Gemm : public TaskCheck {
 public:
  std::string id() const override { return "gemm"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t rows, std::int64_t cols, std::int64_t depth, bool measured = false) {
      all.push_back({fmt::format("{} x {} x {}", rows, cols, depth), {rows, cols, depth}, measured});
    };
    add(1, 1, 1);
    add(random_size(r.seed, 34, 60), random_size(r.seed + 1, 66, 94), random_size(r.seed + 2, 100, 126));
    if (small(r))
      add(random_size(r.seed + 3, 130, 158), random_size(r.seed + 4, 130, 158), random_size(r.seed + 5, 130, 158),
          true);
    else
      add(1029, 1283, 1541, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{size(c, 0) * size(c, 2) * 4, size(c, 2) * size(c, 1) * 4}, {size(c, 0) * size(c, 1) * 4}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed);
    fill_uniform(floats(in[1]), seed + 1);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto a = floats(in[0]), b = floats(in[1]);
    const std::size_t rows = size(c, 0), cols = size(c, 1), depth = size(c, 2);
    if (c.measured) return freivalds({a, b, floats(out[0]), {}, rows, cols, depth});
    return compare_close(
        floats(out[0]),
        [&](std::size_t i) {
          Reduction sum;
          for (std::size_t k = 0; k < depth; ++k)
            sum.add(double{a[i / cols * depth + k]} * double{b[k * cols + i % cols]});
          return Tolerance{}.of(sum);
        },
        [&](std::size_t i) { return fmt::format("C[{}][{}]", i / cols, i % cols); }, depth);
  }
  Work work(const Case& c) const override {
    const auto m = static_cast<double>(c.size[0]), n = static_cast<double>(c.size[1]),
               k = static_cast<double>(c.size[2]);
    return {2 * m * n * k, "flop", 4 * (m * k + k * n), 4 * m * n};
  }
};

class Pick : public TaskCheck {
 public:
  std::string id() const override { return "pick"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : {std::int64_t{1}, std::int64_t{33}, random_size(r.seed, 2000, 9000)})
      all.push_back({fmt::format("{} of {}", n, n / 2 + 1), {n / 2 + 1, n}});
    return all;
  }
  Shape shape(const Case& c) const override { return {{size(c, 0) * 4, size(c, 1) * 4}, {size(c, 1) * 4}}; }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed);
    const auto n = static_cast<std::int32_t>(c.size[0]);
    fill_integers(as<std::int32_t>(in[1]), seed + 1, -n / 4, n + n / 4);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto table = floats(in[0]);
    auto at = as<std::int32_t>(in[1]);
    return compare_close(
        floats(out[0]),
        [&](std::size_t i) -> Expected {
          if (at[i] < 0 || at[i] >= c.size[0]) return {std::numeric_limits<double>::quiet_NaN()};
          return {table[static_cast<std::size_t>(at[i])]};
        },
        element);
  }
  Work work(const Case&) const override { return {}; }
};

class Order : public TaskCheck {
 public:
  std::string id() const override { return "order"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, random_size(r.seed, 4000, 9000)})
      all.push_back({fmt::format("n {}", n), {n}});
    return all;
  }
  Shape shape(const Case& c) const override { return {{size(c, 0) * 4}, {size(c, 0) * 4}}; }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_integers(as<std::int32_t>(in[0]), seed, -1000, 1500);
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto key = as<std::int32_t>(in[0]);
    std::vector<std::int32_t> expected;
    for (std::size_t i = 0; i < key.size(); ++i)
      if (key[i] < 0) expected.push_back(static_cast<std::int32_t>(i));
    expected.resize(key.size());
    return compare_exact(
        as<std::int32_t>(out[0]), [&](std::size_t i) { return expected[i]; },
        [](std::size_t i) { return fmt::format("out[{}]", i); });
  }
  Work work(const Case&) const override { return {}; }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Scale>());
  checks.push_back(std::make_unique<Sum>());
  checks.push_back(std::make_unique<Gemm>());
  checks.push_back(std::make_unique<Pick>());
  checks.push_back(std::make_unique<Order>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("90_judged", make);

}  // namespace
