// Task `occupancy`: walks through a graph of random successors.
#include <cmath>

#include "ceilings/profile.hpp"
#include "common.hpp"

namespace ridge::lab::profiling {

namespace {

constexpr std::size_t kRow = 16;

// Sizes: nodes, walks, hops.
class Occupancy : public TaskCheck {
 public:
  std::string id() const override { return "occupancy"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<std::array<std::int64_t, 3>> shapes = {{1, 1, 1}, {5, 33, 3}, {1009, 257, 1}, {4099, 1023, 7}};
    if (r.mode == Mode::grade)
      shapes.push_back({random_size(r.seed, 100, 9000), random_size(r.seed + 1, 100, 3000),
                        1 + static_cast<std::int64_t>(r.seed % 9)});
    std::vector<Case> all;
    for (const auto& [nodes, walks, hops] : shapes)
      all.push_back({fmt::format("{} nodes, {} walks, {} hops", nodes, walks, hops), {nodes, walks, hops}});
    const auto [nodes, walks] = measured(r);
    const std::int64_t hops = 16;
    all.push_back({fmt::format("{} nodes, {} walks, {} hops", nodes, walks, hops), {nodes, walks, hops}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto nodes = static_cast<std::size_t>(c.size[0]), walks = static_cast<std::size_t>(c.size[1]);
    return {{nodes * 4, nodes * kRow * 4, walks * 4}, {walks * kRow * 4}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto last = static_cast<std::int32_t>(c.size[0] - 1);
    fill_integers(as<std::int32_t>(in[0]), seed, 0, last);
    fill_uniform(floats(in[1]), seed + 1);
    fill_integers(as<std::int32_t>(in[2]), seed + 2, 0, last);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto next = as<const std::int32_t>(in[0]), starts = as<const std::int32_t>(in[2]);
    const auto rows = floats(in[1]), got = floats(out[0]);
    return compare_close<float>(
        got,
        [&](std::size_t i) {
          Reduction sum;
          auto node = static_cast<std::size_t>(starts[i / kRow]);
          for (std::int64_t hop = 0; hop < c.size[2]; ++hop) {
            sum.add(double{rows[node * kRow + i % kRow]});
            node = static_cast<std::size_t>(next[node]);
          }
          return Tolerance{}.of(sum);
        },
        [](std::size_t i) { return fmt::format("sums[{}][{}]", i / kRow, i % kRow); }, kRow);
  }
  // Time: three limits that lie close together, added as the emulator's model adds them (time_model.cpp).
  //   latency  Little's law: all warps resident, of which each waits once a hop, for the row and the successor together;
  //            four lanes have a walk, so a request is for 8 lines. A node comes from memory once, then from L2
  //   l2       the sectors of both, and the sums that are stored
  //   memory   64 bytes for each row that is passed, and the successors
  // Sectors: two for each row, and one for each successor.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto& d = ridge::default_profile().device;
    const double nodes = static_cast<double>(c.size[0]), walks = static_cast<double>(c.size[1]);
    const double hops = static_cast<double>(c.size[2]), passed = nodes * -std::expm1(-walks * hops / nodes);
    const double warps = walks / 8, resident = d.at("sms") * d.at("max_threads_per_sm") / 32;
    const double wait = d.at("l1_latency") + d.at("l2_latency") + d.at("l2_spread") * std::log(8) +
                        d.at("dram_latency") * passed / (walks * hops);
    const double latency = std::max(1.0, warps / resident) * hops * wait;
    const double l2 = walks * (hops * 96 + kRow * 4) / d.at("l2_bandwidth");
    const double memory = (passed * 64 + nodes * 4) / d.at("dram_bandwidth") / d.at("dram_efficiency");
    const double kernel = std::cbrt(std::pow(latency, 3) + std::pow(l2, 3) + std::pow(memory, 3));
    return {{"virtual_time_over_bound", d.at("launch_call") + d.at("kernel_latency") + kernel + d.at("sync_call")},
            {"load_sectors_over_bound", walks * (3 * hops + 1.0 / 8)}};
  }
  Work work(const Case& c) const override {
    const double adds = static_cast<double>(c.size[1] * c.size[2]) * kRow;
    return {adds, "flop", 64 * passed(c), static_cast<double>(c.size[1]) * kRow * 4};
  }
  // Nodes and walks of the measured case. On a GPU L2 holds few of the rows, and the walks pass four times as many.
  static std::array<std::int64_t, 2> measured(const Request& r) {
    const bool small = r.mode == Mode::check;
    if (r.backend == Backend::cpu) return {1 << 20, small ? 1 << 16 : 1 << 17};
    std::int64_t nodes = small ? 1 << 22 : 1 << 23;
    while (static_cast<std::uint64_t>(nodes) * 90 > r.memory && nodes > 1 << 16) nodes /= 2;
    return {nodes, nodes / 4};
  }
  // Different rows that the walks pass, in the mean.
  static double passed(const Case& c) {
    const auto nodes = static_cast<double>(c.size[0]);
    return nodes * -std::expm1(-static_cast<double>(c.size[1] * c.size[2]) / nodes);
  }
};

}  // namespace

std::unique_ptr<TaskCheck> occupancy() { return std::make_unique<Occupancy>(); }

}  // namespace ridge::lab::profiling
