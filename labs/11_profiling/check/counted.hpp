// What a launch of one of the six kernels does, counted address by address. tests/course includes it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "../model.hpp"

namespace ridge::lab::profiling {

struct Counted {
  double load_sectors = 0, first_sectors = 0;  // of all requests; those that a block had not loaded before
  double store_sectors = 0, shared_wavefronts = 0, memory_bytes = 0;
  int loads_of_thread = 0;

  double l1_bytes() const { return 32 * (load_sectors + store_sectors); }
  double l2_bytes() const { return 32 * (first_sectors + store_sectors); }
};

// Takes the requests of warps, block by block.
class Counting {
 public:
  using Lanes = std::array<std::int64_t, 32>;  // byte addresses

  explicit Counting(std::int64_t bytes)
      : block_of_(static_cast<std::size_t>(bytes / 32 + 2), -1), fetched_(static_cast<std::size_t>(bytes / 64 + 1)) {}

  void load(int block, const Lanes& lanes, int width) {
    std::int64_t last = -1;  // lanes go up
    for (const std::int64_t at : lanes)
      for (std::int64_t s = at / 32; s <= (at + width - 1) / 32; ++s) {
        if (s <= last) continue;
        last = s;
        ++sum.load_sectors;
        auto& seen = block_of_[static_cast<std::size_t>(s)];
        if (seen == block) continue;
        seen = block;
        ++sum.first_sectors;
        if (fetched_[static_cast<std::size_t>(s / 2)]) continue;
        fetched_[static_cast<std::size_t>(s / 2)] = true;
        sum.memory_bytes += 64;
      }
  }
  void store(int bytes) { sum.store_sectors += bytes / 32; }  // 32 lanes, one behind the other
  // Word addresses: the most different words of a bank.
  void shared(const Lanes& words) {
    std::array<int, 32> in_bank{};
    for (const std::int64_t w : words) ++in_bank[static_cast<std::size_t>(w % 32)];
    sum.shared_wavefronts += *std::max_element(in_bank.begin(), in_bank.end());
  }

  Counted sum;

 private:
  std::vector<int> block_of_;  // that loaded the sector last
  std::vector<bool> fetched_;
};

inline Counted count(const Launch& l) {
  const std::int64_t n = std::int64_t{l.blocks} * l.threads, a = l.a;
  const std::int64_t input = 4 * std::max({n * std::max<std::int64_t>(a, 4) * (l.kernel == Kernel::wide ? 4 : 1),
                                           n + 2 * a, std::int64_t{l.blocks} * 1024}),
                     coefficients = (input + 255) / 256 * 256;
  Counting c(coefficients + 4 * 1024);
  auto of_lanes = [](auto address) {
    Counting::Lanes lanes;
    for (std::int64_t k = 0; k < 32; ++k) lanes[static_cast<std::size_t>(k)] = address(k);
    return lanes;
  };
  for (int block = 0; block < l.blocks; ++block)
    for (std::int64_t i = std::int64_t{block} * l.threads; i < std::int64_t{block + 1} * l.threads; i += 32) {
      int loads = 0;
      auto load = [&](auto address, int width = 4) { c.load(block, of_lanes(address), width), ++loads; };
      switch (l.kernel) {
        case Kernel::strided:
          load([&](std::int64_t k) { return 4 * (i + k) * a; });
          c.store(128);
          break;
        case Kernel::row_sum:
          for (std::int64_t j = 0; j < a; ++j) load([&](std::int64_t k) { return 4 * ((i + k) * a + j); });
          c.store(128);
          break;
        case Kernel::transpose:
          for (std::int64_t r = i % 256 / 32; r < 32; r += 8) {
            load([&](std::int64_t k) { return 4 * (r * 32 * l.blocks + block * 32 + k); });
            c.shared(of_lanes([&](std::int64_t k) { return r * (32 + a) + k; }));
            c.shared(of_lanes([&](std::int64_t k) { return k * (32 + a) + r; }));
            c.store(128);
          }
          break;
        case Kernel::halo:
          for (std::int64_t d = 0; d <= 2 * a; ++d) load([&](std::int64_t k) { return 4 * (i + k + d); });
          c.store(128);
          break;
        case Kernel::wide:
          load([&](std::int64_t k) { return 16 * (i + k) * a; }, 16);
          c.store(512);
          break;
        case Kernel::table:
          load([&](std::int64_t k) { return 4 * (i + k); });
          load([&](std::int64_t k) { return coefficients + 4 * ((i + k) % a); });
          c.store(128);
          break;
      }
      c.sum.loads_of_thread = loads;
    }
  return c.sum;
}

}  // namespace ridge::lab::profiling
