#include "pipeline_order.hpp"

#include <algorithm>

namespace ridge::network {

// Passes number 0, 1, ... of one direction go through the chunks in blocks of `stages` micro-batches.
std::vector<Pass> pipeline_order(int stages, int stage, int chunks, int micro_batches) {
  const int all = chunks * micro_batches;
  auto pass = [&](bool forward, int number) {
    if (chunks == 1) return Pass{forward, 0, number};
    const int block = number / (stages * chunks), inside = number % (stages * chunks);
    const int chunk = inside / stages;
    return Pass{forward, forward ? chunk : chunks - 1 - chunk, block * stages + inside % stages};
  };
  const int ahead = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
  const int warm_up = std::min(ahead, all);
  std::vector<Pass> order;
  for (int i = 0; i < warm_up; ++i) order.push_back(pass(true, i));
  for (int i = warm_up; i < all; ++i) {
    order.push_back(pass(true, i));
    order.push_back(pass(false, i - warm_up));
  }
  for (int i = all - warm_up; i < all; ++i) order.push_back(pass(false, i));
  return order;
}

}  // namespace ridge::network
