// Lab 11, task `predict`: what six kernels will do, before they run.
//
// The functions below know two of the kernels, and one of the four resources. Run: ./ridge check 11 --task predict
#include <algorithm>
#include <numeric>

#include "model.hpp"

// TASK(predict)
namespace {

int up(int n, int unit) { return (n + unit - 1) / unit * unit; }

// Pieces of `piece` bytes that a warp touches whose lanes read `width` bytes, `apart` bytes from each other.
int pieces(int apart, int width, int piece) {
  int count = 0, last = -1;
  for (int lane = 0; lane < 32; ++lane)
    for (int at = lane * apart / piece; at <= (lane * apart + width - 1) / piece; ++at)
      if (at > last) last = at, ++count;
  return count;
}

// What a launch loads: sectors of all requests, those that its blocks load for the first time, and bytes from memory.
struct Loads {
  double sectors, first, memory_bytes;
  int of_thread;
};

Loads loads_of(const Launch& l) {
  const double n = 1.0 * l.blocks * l.threads, warps = n / 32, blocks = l.blocks;
  const int a = l.a;
  switch (l.kernel) {
    case Kernel::strided:
    case Kernel::wide: {
      const int width = l.kernel == Kernel::wide ? 16 : 4;
      const double sectors = warps * pieces(a * width, width, 32);
      return {sectors, sectors, warps * pieces(a * width, width, 64) * 64, 1};
    }
    case Kernel::row_sum:  // rows of 32 bytes or more: no two lanes share a sector, and L1 keeps it for the next loads
      return {32 * warps * a, n * a / 8, 4 * n * a, a};
    case Kernel::transpose: {
      const double sectors = blocks * 32 * 4;
      return {sectors, sectors, 32 * sectors, 4};
    }
    case Kernel::halo: {
      double of_warp = 0;
      for (int d = 0; d <= 2 * a; ++d) of_warp += d % 8 == 0 ? 4 : 5;
      return {warps * of_warp, blocks * (l.threads / 8 + up(2 * a, 8) / 8), 4 * n + up(8 * a, 64), 2 * a + 1};
    }
    case Kernel::table:
      return {8 * warps, n / 8 + blocks * std::min(l.threads, a) / 8, 4 * n + 4 * std::min<double>(n, a), 2};
  }
  return {};
}

// Blocks that are resident on an SM.
int resident(const Launch& l, const Device& d, Limit& limit) {
  const int warps = l.threads / 32, of_warp = up(32 * l.registers, d.register_unit);
  const int blocks[] = {d.warps / warps, d.blocks, d.shared / up(l.shared + d.shared_reserved, d.shared_unit),
                        d.registers / 4 / of_warp * 4 / warps};
  const int* least = std::min_element(blocks, blocks + 4);
  limit = static_cast<Limit>(least - blocks);
  return *least;
}

}  // namespace

void predict(const Launch* launches, int count, const Device& d, Prediction* table) {
  for (int k = 0; k < count; ++k) {
    const Launch& l = launches[k];
    Prediction& p = table[k];
    const double warps = l.blocks * (l.threads / 32.0);
    const bool transposes = l.kernel == Kernel::transpose;
    const Loads loads = loads_of(l);
    p.load_sectors = loads.sectors;
    p.store_sectors = warps * (l.kernel == Kernel::wide ? 16 : transposes ? 16 : 4);  // a warp stores four rows
    p.shared_wavefronts = transposes ? 32.0 * l.blocks * (1 + std::gcd(l.a, 32)) : 0;
    const int blocks = resident(l, d, p.limit);
    p.warps = blocks * l.threads / 32;
    p.l1_bytes = 32 * (p.load_sectors + p.store_sectors);
    p.l2_bytes = 32 * (loads.first + p.store_sectors);
    p.memory_bytes = loads.memory_bytes;
    const double latency = d.l1_latency + loads.first / loads.sectors * d.l2_latency +
                           std::min(1.0, p.memory_bytes / (32 * loads.sectors)) * d.memory_latency;
    const double roofs[] = {(p.l1_bytes + 128 * p.shared_wavefronts) / (d.sms * d.l1_bytes_per_cycle * d.clock),
                            p.l2_bytes / d.l2_bandwidth, p.memory_bytes / d.memory_bandwidth,
                            loads.of_thread * latency * std::max(1.0, 1.0 * l.blocks / (d.sms * blocks))};
    const double* highest = std::max_element(roofs, roofs + 4);
    p.roof = static_cast<Roof>(highest - roofs);
    p.seconds = *highest;
  }
}
// END(predict)
