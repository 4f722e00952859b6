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
  const double n = 1.0 * l.blocks * l.threads, warps = n / 32;
  const int a = l.a;
  switch (l.kernel) {
    case Kernel::strided:
    case Kernel::wide: {
      const int width = l.kernel == Kernel::wide ? 16 : 4;
      const double sectors = warps * pieces(a * width, width, 32);
      return {sectors, sectors, warps * pieces(a * width, width, 64) * 64, 1};
    }
    default:
      return {};  // TODO: the other four. What does a warp's request touch, and what of it has its block loaded before?
  }
}

// Blocks that are resident on an SM.
int resident(const Launch& l, const Device& d, Limit& limit) {
  limit = Limit::warps;
  return d.warps / (l.threads / 32);  // TODO: block slots, shared memory and registers
}

}  // namespace

void predict(const Launch* launches, int count, const Device& d, Prediction* table) {
  for (int k = 0; k < count; ++k) {
    const Launch& l = launches[k];
    Prediction& p = table[k];
    const double warps = l.blocks * (l.threads / 32.0);
    const Loads loads = loads_of(l);
    p.load_sectors = loads.sectors;
    p.store_sectors = warps * (l.kernel == Kernel::wide ? 16 : 4);
    const int blocks = resident(l, d, p.limit);
    p.warps = blocks * l.threads / 32;
    // TODO: wavefronts of shared memory, bytes, roof and time.
  }
}
// END(predict)
