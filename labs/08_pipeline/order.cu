// Lab 08, task `order`: which forwards and backwards a rank makes, and when.
//
// 1F1B (PipeDream-flush) for one chunk a rank, interleaved 1F1B for more. Run: ./ridge check 08 --task order
#include "pipeline.hpp"

// TASK(order)
void order(int p, int m, int v, int r, Step* steps) {
  // TODO: steps[0] to steps[2 m v - 1]. Draw p = 4, m = 8 first. This is one micro-batch after the other: right for p = 1 only.
  for (int k = 0; k < m; ++k) {
    *steps++ = {true, 0, k};
    *steps++ = {false, 0, k};
  }
}
// END(order)
