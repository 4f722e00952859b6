// Cases, inputs, expected answers and bounds of lab 05.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/wide.hpp"

namespace {

using namespace ridge::lab;

std::vector<std::int64_t> tried(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, high / 2, high));
  return sizes;
}

std::int64_t measured_elements(const Request& r) {
  if (r.backend == Backend::cpu) return r.mode == Mode::check ? 1 << 21 : 1 << 23;
  std::int64_t n = r.mode == Mode::check ? 1 << 25 : 1 << 27;
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

RIDGE_WIDE void expect_upload(const float* x, std::size_t count, Expecteds& e) {
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) {
    const double half = 0.5 * x[k];
    e.set(k, within_ulps(half + 1, std::fabs(half) + 1, 1));
  }
}

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
    return compare_close_together(
        floats(out[0]),
        [&](std::size_t first, std::size_t count, Expecteds& e) { expect_upload(x.data() + first, count, e); },
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

// As in streams.hpp.
constexpr double kDamping = -0.9997f, kForce = 0.5;

// oscillate() in double: after k rounds x is a^k x + b (1 - a^k) / (1 - a). Each round rounds twice, and damps the errors of
// those before.
RIDGE_WIDE void expect_oscillation(const float* start, std::size_t count, double rounds, Expecteds& e) {
  const double power = std::pow(-kDamping, rounds), kept = static_cast<int>(rounds) % 2 == 0 ? power : -power;
  const double rest = kForce * (1 - kept) / (1 - kDamping), unit = kFp32.unit();
  const double drift = std::sqrt((1 - power * power) / (1 - kDamping * kDamping));
  const double most = 2 * (1 - power) / (1 + kDamping);
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) {
    const double x = start[k], size = std::fabs(x) + 1;
    e.set(k, {kept * x + rest, unit * size * drift, unit * size * most, size});
  }
}

class Pipeline : public TaskCheck {
 public:
  std::string id() const override { return "pipeline"; }
  // On a GPU the kernel is the longest stage: copies both ways at once would slow each other, by a tenth on an H200.
  std::vector<Case> cases(const Request& r) const override {
    const std::int64_t rounds = r.backend == Backend::cpu ? 8 : 4096;
    std::vector<Case> all = of_elements(r, {1, 1000, 65537}, 200000);
    for (Case& c : all) {
      c.size[1] = c.measured ? rounds : 1 + c.size[0] % 20;
      c.name += fmt::format(", {} rounds", c.size[1]);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = bytes_of(c.size[0]);
    return {{bytes}, {bytes}, 2 * bytes, Place::pinned, Place::pinned};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_uniform(floats(in[0]), seed, -1.5f, 2); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    return compare_close_together(
        floats(out[0]),
        [&](std::size_t first, std::size_t count, Expecteds& e) {
          expect_oscillation(x.data() + first, count, static_cast<double>(c.size[1]), e);
        },
        element);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {2 * n * static_cast<double>(c.size[1]), "flop", 2 * n * 4, 2 * n * 4};
  }
  bool kernels_may_reach_host() const override { return false; }
  std::vector<Bound> bounds(const Case& c) const override {
    return {{"virtual_time_over_bound", on_the_link(static_cast<double>(bytes_of(c.size[0])))}};
  }
};

// As in streams.hpp.
constexpr int kBranches = 4, kRounds = 4096;

// sums[i] = the sum over all branches b of refine(refine(prepare(x[i]), b), b). A round waits for the one before: several
// vectors of all branches are on their way at once.
constexpr std::size_t kJoined = 32;
RIDGE_WIDE void join(const std::uint32_t* x, std::uint32_t* sums) {
  struct alignas(64) Vector {
    std::uint32_t x __attribute__((vector_size(64)));
  };
  constexpr std::size_t lanes = 16, vectors = kJoined / lanes;
  Vector v[vectors][kBranches];
  for (std::size_t i = 0; i < kJoined; ++i)
    for (int b = 0; b < kBranches; ++b) v[i / lanes][b].x[i % lanes] = x[i] ^ x[i] >> 16;
  for (int round = 0; round < 2 * kRounds; ++round) {
#pragma GCC unroll 2
    for (std::size_t i = 0; i < vectors; ++i)
#pragma GCC unroll 4
      for (int b = 0; b < kBranches; ++b) {
        v[i][b].x = v[i][b].x * 1664525u + (1013904223u + static_cast<std::uint32_t>(b));
        v[i][b].x ^= v[i][b].x >> 13;
      }
  }
  for (std::size_t i = 0; i < kJoined; ++i) {
    sums[i] = 0;
    for (int b = 0; b < kBranches; ++b) sums[i] += v[i / lanes][b].x[i % lanes];
  }
}

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
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_bits(as<std::uint32_t>(in[0]), seed); }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto x = as<std::uint32_t>(in[0]), got = as<std::uint32_t>(out[0]);
    using Tally = ExactTally<std::uint32_t>;
    return compare_parts<Tally>(
        x.size(), (x.size() + kJoined - 1) / kJoined, 1,
        [&](std::size_t from, std::size_t to, Tally& tally) {
          for (std::size_t p = from; p < to; ++p) {
            const std::size_t first = p * kJoined, count = std::min(kJoined, x.size() - first);
            std::uint32_t some[kJoined] = {}, sums[kJoined];
            std::copy_n(x.begin() + first, count, some);
            join(some, sums);
            tally.add(first, got.subspan(first, count), sums);
          }
        },
        element);
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
};

// Steps of the network in double, eight at once: a step's input is known from the answer of the one before, and that
// answer is compared too. So all steps are right if each is.
class Network {
 public:
  static constexpr std::size_t kSteps = 8;

  Network(const Case& c, std::span<const float> weights)
      : layers_(static_cast<std::size_t>(c.size[0])),
        dim_(static_cast<std::size_t>(c.size[1])),
        weights_(weights),
        tolerance_(Tolerance{}.of_length(static_cast<double>(c.size[1]))) {}
  std::size_t dim() const { return dim_; }

  // Compares the steps first, first + 1, ..., `count` of them, with `out`.
  void run(std::span<const float> start, std::span<const float> out, std::size_t first, std::size_t count,
           CloseTally& tally) const {
    // The values and the variances of float arithmetic's errors in them: these go through the layers with their weights.
    std::vector<Eight> h(dim_), dh(dim_), next(dim_), dnext(dim_);
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t i = 0; i < dim_; ++i) {
        const std::size_t t = first + lane;
        if (t == 0) {
          h[i].x[lane] = start[i];
          continue;
        }
        const double given = out[(t - 1) * dim_ + i], position = (i + t - 1) % 3 == 0 ? 0.25 : -0.125;
        const double before = std::isfinite(given) ? given : 0;  // a NaN would make the next steps' right
        const double x = 0.5 * before + position, rounded = kFp32.unit() * std::fabs(x);
        h[i].x[lane] = x;
        dh[i].x[lane] = rounded * rounded;
      }
    std::vector<double> w(2 * kRows * dim_);
    for (std::size_t l = 0; l < layers_; ++l) {
      for (std::size_t k = 0; k < dim_; ++k) dh[k].x += tolerance_.of_squares * (h[k].x * h[k].x);
      for (std::size_t r = 0; r < dim_; r += kRows) {
        const std::size_t rows = std::min(kRows, dim_ - r);
        Eight sum[kRows], variance[kRows];
        widen(weights_.data() + (l * dim_ + r) * dim_, rows * dim_, w.data(), w.data() + kRows * dim_);
        add_up(w.data(), dim_, h.data(), dh.data(), sum, variance);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t lane = 0; lane < kSteps; ++lane) {
            const double v = sum[i].x[lane], slope = 1 / (1 + std::fabs(v)), y = v * slope;  // |act'| <= slope^2
            const double deviation = std::sqrt(variance[i].x[lane] + tolerance_.of_sum * v * v) * slope * slope +
                                     2 * kFp32.unit() * std::fabs(y);
            next[r + i].x[lane] = y;
            dnext[r + i].x[lane] = deviation * deviation;
          }
      }
      h.swap(next), dh.swap(dnext);
    }
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t i = 0; i < dim_; ++i) {
        const std::size_t at = (first + lane) * dim_ + i;
        const double deviation = std::sqrt(dh[i].x[lane]);
        tally.add(at, out[at], {h[i].x[lane], deviation + 1e-37, 40 * deviation + 1e-36, 1});
      }
  }

 private:
  static constexpr std::size_t kRows = 4;  // of a matrix, at once

  // Weights and their squares.
  RIDGE_WIDE static void widen(const float* from, std::size_t n, double* w, double* squares) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
      const double v = from[i];
      w[i] = v;
      squares[i] = v * v;
    }
  }

  // w: kRows x dim, then their squares. sum = w h, variance = w^2 dh.
  RIDGE_WIDE static void add_up(const double* w, std::size_t dim, const Eight* h, const Eight* dh, Eight* sum,
                                Eight* variance) {
    Eight s[kRows], v[kRows];
    for (std::size_t k = 0; k < dim; ++k) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kRows; ++i) {
        s[i].x += w[i * dim + k] * h[k].x;
        v[i].x += w[(kRows + i) * dim + k] * dh[k].x;
      }
    }
    for (std::size_t i = 0; i < kRows; ++i) sum[i] = s[i], variance[i] = v[i];
  }

  std::size_t layers_, dim_;
  std::span<const float> weights_;
  SumTolerance tolerance_;
};

class Decode : public TaskCheck {
 public:
  std::string id() const override { return "decode"; }
  std::vector<Case> cases(const Request& r) const override {
    struct Net {
      std::int64_t layers, dim, steps;
    };
    std::vector<Net> nets = {{1, 1, 1}, {3, 33, 5}, {2, 100, 4}, {2, 300, 3}, {1, 515, 2}};
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
    const auto weights = floats(in[0]);
    parallel_for(weights.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) weights[i] *= scale;
    });
    fill_normal(floats(in[1]), seed + 1);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Network net(c, floats(in[0]));
    const auto start = floats(in[1]), got = floats(out[0]);
    const auto steps = static_cast<std::size_t>(c.size[2]), dim = net.dim();
    return compare_parts<CloseTally>(
        got.size(), (steps + Network::kSteps - 1) / Network::kSteps, 1,
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          for (std::size_t p = from; p < to; ++p) {
            const std::size_t first = p * Network::kSteps;
            net.run(start, got, first, std::min(Network::kSteps, steps - first), tally);
          }
        },
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
    // The work of a node itself: two trips to memory and back, and a warp's sum.
    const double node = d.at("graph_node_latency") + 2 * (d.at("l1_latency") + d.at("l2_latency"));
    return {{"launches_over_bound", steps + 1}, {"virtual_time_over_bound", d.at("graph_call") + steps * nodes * node}};
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
