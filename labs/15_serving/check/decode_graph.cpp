// Task `decode_graph`: steps of a model with whole numbers, whose batch rises and falls.
#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/wide.hpp"
#include "tasks.hpp"

namespace ridge::lab::serving {

namespace {

constexpr int kMostBatch = 64;  // as in step.hpp; so are mix() and batch_of_step()

std::uint32_t mix(std::uint32_t v) {
  v ^= v >> 15;
  return v * 2654435761u;
}
RIDGE_WIDE std::uint32_t dot(const std::uint32_t* a, const std::uint32_t* b, std::size_t n) {
  std::uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
int batch_of_step(int step, int most, int seed) {
  const int wave = (step * 7 + seed) % (2 * most);
  return std::max(1, wave < most ? wave : 2 * most - 1 - wave);
}

// Sizes: layers, dim, steps, sequences, most of a batch, seed of the batches.
class DecodeGraph : public TaskCheck {
 public:
  std::string id() const override { return "decode_graph"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 5> s, bool measured = false) {
      Case c{fmt::format("{} layers of {}, {} steps of up to {} of {} sequences", s[0], s[1], s[2], s[4], s[3]),
             {s[0], s[1], s[2], s[3], s[4]},
             measured};
      c.size[5] = static_cast<std::int64_t>(random_bits(r.seed, all.size()) % 64);
      all.push_back(c);
    };
    add({1, 1, 1, 1, 1}), add({2, 33, 5, 7, 6}), add({1, 20, 9, 90, 64});
    if (r.mode == Mode::grade) add({3, random_size(r.seed, 35, 70), 8, 40, 30});
    if (r.backend == Backend::cpu)
      add({4, 48, r.mode == Mode::check ? 16 : 24, 30, 18}, true);
    else
      add({24, 64, r.mode == Mode::check ? 64 : 256, 100, 64}, true);
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const std::size_t dim = size(c, 1), state = size(c, 3) * dim * 4;
    return {{size(c, 0) * dim * dim * 4, size(c, 2) * (1 + kMostBatch) * 4, state},
            {state},
            (2 * kMostBatch * dim + 1) * 4};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_bits(as<std::uint32_t>(in[0]), random_bits(seed, 0));
    fill_bits(as<std::uint32_t>(in[2]), random_bits(seed, 1));
    const auto numbers = as<std::int32_t>(in[1]);
    std::vector<std::int32_t> order(size(c, 3));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t t = 0; t < size(c, 2); ++t) {
      numbers[t] = batch(c, t);
      for (std::size_t i = 0; i < kMostBatch; ++i) {
        if (i < order.size()) std::swap(order[i], order[i + random_bits(seed, 100 + t * 64 + i) % (order.size() - i)]);
        numbers[size(c, 2) + t * kMostBatch + i] = i < order.size() ? order[i] : 0;
      }
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::size_t layers = size(c, 0), dim = size(c, 1), steps = size(c, 2), sequences = size(c, 3);
    const auto weights = as<std::uint32_t>(in[0]), start = as<std::uint32_t>(in[2]);
    const auto numbers = as<std::int32_t>(in[1]);
    // Sequences do not meet, so each is computed alone: the steps in which it is active.
    std::vector<std::vector<std::uint32_t>> active_in(sequences);
    for (std::uint32_t t = 0; t < steps; ++t)
      for (const std::int32_t s : numbers.subspan(steps + t * kMostBatch, static_cast<std::size_t>(numbers[t])))
        active_in[static_cast<std::size_t>(s)].push_back(t);
    return compare_parts<ExactTally<std::uint32_t>>(
        sequences * dim, sequences, 1,
        [&](std::size_t from, std::size_t to, ExactTally<std::uint32_t>& tally) {
          std::vector<std::uint32_t> x(dim), y(dim);
          for (std::size_t s = from; s < to; ++s) {
            x.assign(start.begin() + static_cast<std::ptrdiff_t>(s * dim),
                     start.begin() + static_cast<std::ptrdiff_t>((s + 1) * dim));
            for (const std::uint32_t t : active_in[s]) {
              for (std::size_t l = 0; l < layers; ++l, x.swap(y))
                for (std::size_t i = 0; i < dim; ++i) y[i] = mix(dot(&weights[(l * dim + i) * dim], x.data(), dim));
              for (std::uint32_t& e : x) e += t;
            }
            tally.add(s * dim, as<std::uint32_t>(out[0]).subspan(s * dim, dim), x.data());
          }
        },
        [&](std::size_t i) { return fmt::format("state[sequence {}][{}]", i / dim, i % dim); }, Extent::share);
  }
  bool host_may_wait() const override { return false; }
  Work work(const Case& c) const override {
    const double rows = sum_of_rows(c, false), dim = static_cast<double>(c.size[1]),
                 layers = static_cast<double>(c.size[0]);
    return {2 * rows * layers * dim * dim, "operation", 4 * layers * dim * dim * static_cast<double>(c.size[2]),
            4 * rows * dim};
  }
  // One launch a step, the count set to 0, and entry.cu's copy of the start. Rows up to the next power of two: a
  // sector for each number of a layer, whole sectors of the first kernel; then the states of the active sequences.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto& d = ridge::default_profile().device;
    const double steps = static_cast<double>(c.size[2]), layers = static_cast<double>(c.size[0]);
    const double row = static_cast<double>(c.size[1] * 4) / 32;
    const double node = d.at("graph_node_latency") + 2 * (d.at("l1_latency") + d.at("l2_latency"));
    return {{"launches_over_bound", steps + 2},
            {"store_sectors_over_bound", sum_of_rows(c, true) * (layers * static_cast<double>(c.size[1]) + row) +
                                             (sum_of_rows(c, false) + static_cast<double>(c.size[3])) * row + steps},
            {"virtual_time_over_bound", d.at("graph_call") + steps * (layers + 2) * node}};
  }

 private:
  static std::size_t size(const Case& c, std::size_t i) { return static_cast<std::size_t>(c.size[i]); }
  static int batch(const Case& c, std::size_t step) {
    return batch_of_step(static_cast<int>(step), static_cast<int>(c.size[4]), static_cast<int>(c.size[5]));
  }
  static double sum_of_rows(const Case& c, bool in_buckets) {
    double sum = 0;
    for (std::size_t t = 0; t < size(c, 2); ++t) {
      const auto n = static_cast<unsigned>(batch(c, t));
      sum += in_buckets ? std::bit_ceil(n) : n;
    }
    return sum;
  }
};

}  // namespace

std::unique_ptr<TaskCheck> decode_graph() { return std::make_unique<DecodeGraph>(); }

}  // namespace ridge::lab::serving
