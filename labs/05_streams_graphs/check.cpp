// Cases, inputs, expected answers and bounds of lab 05.
#include "lab/check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/compare.hpp"
#include "roofline/profile.hpp"

namespace {

using namespace ridge::lab;

std::vector<std::int64_t> tried(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, high / 2, high));
  return sizes;
}

std::int64_t measured_elements(const Request& r) {
  if (r.backend == Backend::cpu) return r.mode == Mode::check ? 1 << 21 : 1 << 23;
  std::int64_t n = r.mode == Mode::check ? 1 << 24 : 1 << 27;
  while (n > 1024 && static_cast<std::uint64_t>(n) * 16 > r.memory) n /= 2;
  return n;
}

std::vector<Case> of_elements(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  std::vector<Case> all;
  for (std::int64_t n : tried(r, std::move(sizes), high)) all.push_back({fmt::format("n {}", n), {n}});
  const std::int64_t n = measured_elements(r);
  all.push_back({fmt::format("n {}", n), {n}, true});
  return all;
}

// Seconds that the emulated device's link needs for the bytes, one way, from page-locked memory.
double on_the_link(double bytes) { return bytes / ridge::default_profile().device.at("pcie_pinned"); }

std::size_t bytes_of(std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(float); }

std::string element(std::size_t i) { return fmt::format("out[{}]", i); }

class Upload : public TaskCheck {
 public:
  std::string id() const override { return "upload"; }
  std::vector<Case> cases(const Request& r) const override { return of_elements(r, {1, 1000, 65537}, 200000); }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = bytes_of(c.size[0]);
    return {{bytes}, {bytes}, bytes, Place::pageable, Place::device};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(floats(in[0]), seed); }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    return compare_close(
        floats(out[0]), [&](std::size_t i) { return within_ulps(0.5 * x[i] + 1, std::fabs(0.5 * x[i]) + 1, 1); },
        element);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", 2 * n * 4, 2 * n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    return {{"virtual_time_over_bound", on_the_link(static_cast<double>(bytes_of(c.size[0])))}};
  }
  bool host_reads_inputs() const override { return true; }  // that is the task
  double bytes_from_host(const Case& c) const override {
    return 1.1 * static_cast<double>(bytes_of(c.size[0])) +
           (32 << 20);  // staging buffers that keep old data count again
  }
};

class Pipeline : public TaskCheck {
 public:
  std::string id() const override { return "pipeline"; }
  std::vector<Case> cases(const Request& r) const override { return of_elements(r, {1, 1000, 65537}, 200000); }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = bytes_of(c.size[0]);
    return {{bytes}, {bytes}, 2 * bytes, Place::pinned, Place::pinned};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed, 0.1f, 1.9f);
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    return compare_close(
        floats(out[0]), [&](std::size_t i) { return expected(x[i]); }, element);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", 2 * n * 4, 2 * n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    return {{"virtual_time_over_bound", on_the_link(static_cast<double>(bytes_of(c.size[0])))}};
  }

 private:
  // model() in double, with the error that float arithmetic carries along: each step multiplies what was there by the
  // derivative 0.75 (1 - 0.75 x^2), and adds some roundings of its own.
  static Expected expected(float start) {
    double x = start, error = 0;
    for (int i = 0; i < 8; ++i) {
      const double square = 0.25 * x * x, next = 0.75 * x * (1 - square);
      error = std::fabs(0.75 * (1 - 3 * square)) * error + 4 * kFp32.unit() * 0.75 * std::fabs(x) * (1 + square);
      x = next;
    }
    const double worst = 2 * error + 1e-37;
    return {x, worst / 2, worst, std::fabs(x)};
  }
};

class ForkJoin : public TaskCheck {
 public:
  std::string id() const override { return "fork_join"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 33, 500}, 700)) all.push_back({fmt::format("n {}", n), {n}});
    const std::int64_t n = r.backend == Backend::cpu ? 1024 : 8192;
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = bytes_of(c.size[0]);
    return {{bytes}, {bytes}, (1 + 2 * kBranches) * bytes};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    auto x = as<std::uint32_t>(in[0]);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint32_t>(random_bits(seed, i));
  }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = as<std::uint32_t>(in[0]);
    return compare_exact(
        as<std::uint32_t>(out[0]), [&](std::size_t i) { return expected(x[i]); }, element);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n * (2 + 2 * kBranches * 4 * kRounds), "operation", n * 4 * (1 + 3 * kBranches),
            n * 4 * (2 + 2 * kBranches)};
  }
  // The longest path: prepare, two kernels of a branch, join. A round is about
  // 13 instructions of the CPU build, each of which waits for the one before.
  std::vector<Bound> bounds(const Case&) const override {
    const auto& d = ridge::default_profile().device;
    return {{"virtual_time_over_bound",
             d.at("launch_call") + 4 * d.at("kernel_latency") + 2 * 13 * kRounds * d.at("instruction_latency")}};
  }

 private:
  static constexpr int kBranches = 4, kRounds = 4096;
  static std::uint32_t refine(std::uint32_t v, std::uint32_t branch) {
    for (int k = 0; k < kRounds; ++k) {
      v = v * 1664525u + 1013904223u + branch;
      v ^= v >> 13;
    }
    return v;
  }
  static std::uint32_t expected(std::uint32_t x) {
    const std::uint32_t p = x ^ x >> 16;
    std::uint32_t sum = 0;
    for (std::uint32_t b = 0; b < kBranches; ++b) sum += refine(refine(p, b), b);
    return sum;
  }
};

class Decode : public TaskCheck {
 public:
  std::string id() const override { return "decode"; }
  std::vector<Case> cases(const Request& r) const override {
    struct Net {
      std::int64_t layers, dim, steps;
    };
    std::vector<Net> nets = {{1, 1, 1}, {3, 33, 5}, {2, 100, 4}};
    if (r.mode == Mode::grade) nets.push_back({3, random_size(r.seed, 40, 120), 6});
    std::vector<Case> all;
    auto name = [](const Net& n) { return fmt::format("{} layers of {}, {} steps", n.layers, n.dim, n.steps); };
    for (const Net& n : nets) all.push_back({name(n), {n.layers, n.dim, n.steps}});
    Net n = r.backend == Backend::cpu ? Net{8, 96, 12} : Net{24, 512, 64};
    if (r.mode == Mode::check) n.steps /= 2;
    all.push_back({name(n), {n.layers, n.dim, n.steps}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::int64_t layers = c.size[0], dim = c.size[1], steps = c.size[2];
    return {{bytes_of(layers * dim * dim), bytes_of(dim)}, {bytes_of(steps * dim)}, bytes_of(3 * dim)};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.size[1])));
    for (float& w : floats(in[0])) w *= scale;
    fill_normal(floats(in[1]), seed + 1);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto dim = static_cast<std::size_t>(c.size[1]);
    const std::vector<Expected> all = expected(c, floats(in[0]), floats(in[1]));
    return compare_close(
        floats(out[0]), [&](std::size_t i) { return all[i]; },
        [&](std::size_t i) { return fmt::format("step {}, element {}", i / dim, i % dim); });
  }
  Work work(const Case& c) const override {
    const auto layers = static_cast<double>(c.size[0]), dim = static_cast<double>(c.size[1]);
    const auto steps = static_cast<double>(c.size[2]);
    return {2 * layers * dim * dim * steps, "flop", 4 * layers * dim * dim * steps, 4 * dim * steps};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const auto& d = ridge::default_profile().device;
    const auto nodes = static_cast<double>(2 * c.size[0] + 1), steps = static_cast<double>(c.size[2]);
    // A node's own work: two trips to memory and back, and a warp's sum.
    const double node = d.at("graph_node_latency") + 2 * (d.at("l1_latency") + d.at("l2_latency"));
    return {{"launches_over_bound", steps + 1}, {"virtual_time_over_bound", d.at("graph_call") + steps * nodes * node}};
  }

 private:
  // All steps in double. The deviation of float arithmetic goes through the layers with their weights: |act'| <= 1.
  static std::vector<Expected> expected(const Case& c, std::span<const float> w, std::span<const float> start) {
    const auto layers = static_cast<std::size_t>(c.size[0]), dim = static_cast<std::size_t>(c.size[1]);
    const Tolerance tolerance;
    std::vector<Expected> all;
    std::vector<double> x(start.begin(), start.end()), dx(dim), h(dim), dh(dim), next(dim), dnext(dim);
    for (std::int64_t t = 0; t < c.size[2]; ++t) {
      h = x, dh = dx;
      for (std::size_t l = 0; l < layers; ++l) {
        for (std::size_t r = 0; r < dim; ++r) {
          Reduction sum;
          double carried = 0;
          for (std::size_t k = 0; k < dim; ++k) {
            const double weight = w[(l * dim + r) * dim + k];
            sum.add(weight * h[k]);
            carried += weight * weight * dh[k] * dh[k];
          }
          const Expected e = tolerance.of(sum);
          const double v = e.value, slope = 1 / (1 + std::fabs(v));
          next[r] = v * slope;
          dnext[r] =
              std::sqrt(carried + e.deviation * e.deviation) * slope * slope + 2 * kFp32.unit() * std::fabs(next[r]);
        }
        h.swap(next), dh.swap(dnext);
      }
      for (std::size_t i = 0; i < dim; ++i) {
        all.push_back({h[i], dh[i] + 1e-37, 40 * dh[i] + 1e-36, 1});
        const bool third = (i + static_cast<std::size_t>(t)) % 3 == 0;
        x[i] = 0.5 * h[i] + (third ? 0.25 : -0.125);
        dx[i] = 0.5 * dh[i] + kFp32.unit() * std::fabs(x[i]);
      }
    }
    return all;
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Upload>());
  checks.push_back(std::make_unique<Pipeline>());
  checks.push_back(std::make_unique<ForkJoin>());
  checks.push_back(std::make_unique<Decode>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("05_streams_graphs", make);

}  // namespace
