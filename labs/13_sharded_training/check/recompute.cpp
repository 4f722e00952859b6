// The choice of blocks that keep their activations. The best one is found here over times, where a student's program goes over bytes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

using Whole = std::int64_t;
constexpr Whole kMiB = 1 << 20;
struct Block {
  Whole bytes, time;
};

// The least time of second forwards; -1 where nothing fits. Blocks by size: of those that are dropped, the last one decides the shared memory.
Whole least_time(std::vector<Block> blocks, Whole budget) {
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
  Whole times = 0, later = 0;
  for (const Block& b : blocks) times += b.time, later += b.bytes;
  if (later <= budget) return 0;
  constexpr Whole kNever = Whole{1} << 60;
  std::vector<Whole> kept(static_cast<std::size_t>(times) + 1,
                          kNever);  // the least bytes, by the time of those dropped
  kept[0] = 0;
  Whole best = -1;
  for (const Block& b : blocks) {
    later -= b.bytes;
    for (Whole t = times; t >= 0; --t) {
      const Whole dropped = t >= b.time ? kept[static_cast<std::size_t>(t - b.time)] : kNever;
      if (dropped + b.bytes + later <= budget && (best < 0 || t < best)) best = t;
      Whole& now = kept[static_cast<std::size_t>(t)];
      now = std::min(now + b.bytes, dropped);
    }
  }
  return best;
}

class Recompute : public TaskCheck {
 public:
  std::string id() const override { return "recompute"; }
  // Sizes: blocks, budget in MiB, kind of costs, seed.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](Whole count, Whole budget, Whole kind, const char* what, Whole seed = 1) {
      Case c;
      c.size = {count, budget, kind, seed};
      c.name = fmt::format("{} blocks{}, {} MiB", count, what, budget);
      all.push_back(c);
    };
    add(1, 64, 0, " that are alike"), add(1, 63, 0, " that are alike"), add(12, 1000, 0, " that are alike");
    add(12, 400, 0, " that are alike"), add(3, 22, 1, " where the best for its bytes is a trap");
    add(4, 50, 2, " with a large one"), add(5, 30, 2, " with a large one");
    add(24, 700, 3, ""), add(24, 2500, 3, "", 2), add(48, 3000, 3, "", 3);
    if (r.mode == Mode::grade)
      for (std::uint64_t i = 0; i < 4; ++i)
        add(random_size(r.seed + 3 * i, 10, 50), random_size(r.seed + 3 * i + 1, 300, 2500), 3, "",
            random_size(r.seed + 3 * i + 2, 10, 1 << 30));
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{n * sizeof(Block)}, {(n + 1) * 4}, 0};
  }
  bool host_reads_inputs() const override { return true; }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const auto blocks = as<Block>(in[0]);
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      auto random = [&](std::uint64_t k, Whole low, Whole high) {
        return random_size(random_bits(static_cast<std::uint64_t>(c.size[3]), 2 * l + k), low, high);
      };
      switch (c.size[2]) {
        case 0:
          blocks[l] = {64 * kMiB, 500};
          break;
        case 1:
          blocks[l] = {(l == 0 ? 7 : 6) * kMiB, l == 0 ? 80 : 60};
          break;  // 6 + 6, and not 7
        case 2:
          blocks[l] = {(l == 1 ? 40 : 6 + static_cast<Whole>(l)) * kMiB,
                       l == 1 ? 500 : 90 + 10 * static_cast<Whole>(l)};
          break;
        default:
          blocks[l] = {random(0, 10, 200) * kMiB, random(1, 50, 2000)};
      }
    }
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "block", 0, 0}; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto blocks = as<Block>(in[0]);
    const auto answer = as<std::int32_t>(out[0]);
    const Whole budget = c.size[1] * kMiB;
    const Whole best = least_time({blocks.begin(), blocks.end()}, budget);
    if ((answer[0] != 0) != (best >= 0))
      return {false, best >= 0 ? "returned false, and there is a choice that fits into the budget"
                               : "returned true, and no choice fits into the budget"};
    if (best < 0) return {};
    Whole kept = 0, shared = 0, time = 0;
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      if (answer[l + 1] != 0 && answer[l + 1] != 1) return {false, fmt::format("keep[{}] was not written", l)};
      if (answer[l + 1] != 0)
        kept += blocks[l].bytes;
      else
        time += blocks[l].time, shared = std::max(shared, blocks[l].bytes);
    }
    if (kept + shared > budget)
      return {false,
              fmt::format("kept blocks take {} MiB and the largest of the others {} MiB, which is more than the {} "
                          "MiB of the budget",
                          kept / kMiB, shared / kMiB, c.size[1])};
    if (time != best)
      return {false, fmt::format("the second forwards take {} us, {:.3f} of the {} us that are possible", time,
                                 best > 0 ? static_cast<double>(time) / static_cast<double>(best) : INFINITY, best)};

    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> recompute() { return std::make_unique<Recompute>(); }

}  // namespace ridge::lab::sharded_training
