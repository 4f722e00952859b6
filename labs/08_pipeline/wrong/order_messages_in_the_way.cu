// replaces: order.cu; fails: order/bubble; backend: cpu
// Interleaved with a warm-up that is long enough while messages take no time, and hides none that does.
#include <algorithm>

#include "pipeline.hpp"

void order(int p, int m, int v, int r, Step* steps) {
  // Warm up until the first gradient can be here, then one backward for each forward, then what is left.
  const int all = m * v, reach = v == 1 ? p - r - 1 : (p - r - 1) + (v - 1) * p, warm_up = std::min(reach, all);
  // The i-th forward. Micro-batches go in rounds: p of them through the first chunk, the same through the second, ...
  // Backwards go through the chunks from the last one.
  auto forward = [=](int i) { return v == 1 ? Step{true, 0, i} : Step{true, i / p % v, i / (p * v) * p + i % p}; };
  auto backward = [=](int i) {
    const Step f = forward(i);
    return Step{false, v - 1 - f.chunk, f.micro_batch};
  };
  for (int i = 0; i < warm_up; ++i) *steps++ = forward(i);
  for (int i = warm_up; i < all; ++i) {
    *steps++ = forward(i);
    *steps++ = backward(i - warm_up);
  }
  for (int i = all - warm_up; i < all; ++i) *steps++ = backward(i);
}
