// The order in which a stage runs the passes of its micro-batches: 1F1B (Narayanan et al. 2019, 2021), interleaved
// where a stage has several chunks of the layers.
#pragma once
#include <vector>

namespace ridge::network {

struct Pass {
  bool forward = true;
  int chunk = 0, micro_batch = 0;
};

// Interleaved: `micro_batches` is a multiple of `stages`.
std::vector<Pass> pipeline_order(int stages, int stage, int chunks, int micro_batches);

}  // namespace ridge::network
