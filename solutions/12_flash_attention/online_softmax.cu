// Lab 12, task `online_softmax`: a softmax and its weighted sum in one pass over the scores.
//
// The loop over a row is there: a warp takes it tile by tile, and keeps a maximum and two sums of what it has seen.
// What is missing is how a tile, and another lane's part, are added. Run: ./ridge check 12 --task online_softmax
#include <cmath>

#include "flash_attention.hpp"

// TASK(online_softmax)
namespace {

constexpr int kWarps = 8, kPerLane = 4, kTile = 32 * kPerLane;

// What is known of a part of a row: its largest score, the sum of exp(score - top), and that of exp(score - top) value.
struct Partial {
  float top, sum, out;
};

// The same of two parts together.
__device__ Partial merge(const Partial& a, const Partial& b) {
  const float top = fmaxf(a.top, b.top);
  if (top == -INFINITY) return a;  // both are empty, and -infinity - -infinity is NaN
  const float of_a = __expf(a.top - top), of_b = __expf(b.top - top);
  return {top, a.sum * of_a + b.sum * of_b, a.out * of_a + b.out * of_b};
}

// scores, values: (rows, cols); out, lse: (rows). A warp a row.
__global__ void online_softmax_kernel(const float* scores, const float* values, float* out, float* lse, int rows,
                                      int cols) {
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= rows) return;
  const std::size_t first = static_cast<std::size_t>(row) * cols;
  Partial all{-INFINITY, 0, 0};
  for (int tile = 0; tile < cols; tile += kTile) {
    float score[kPerLane], value[kPerLane];
    for (int i = 0; i < kPerLane; ++i) {
      const int col = tile + 32 * i + lane;
      score[i] = col < cols ? scores[first + col] : -INFINITY;
      value[i] = col < cols ? values[first + col] : 0.0f;
    }
    float top = all.top;
    for (int i = 0; i < kPerLane; ++i) top = fmaxf(top, score[i]);
    if (top == -INFINITY) continue;  // all masked so far
    const float shrink = __expf(all.top - top);
    all = {top, all.sum * shrink, all.out * shrink};
    for (int i = 0; i < kPerLane; ++i) {
      const float weight = __expf(score[i] - top);
      all.sum += weight;
      all.out += weight * value[i];
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    const Partial other{__shfl_xor_sync(0xffffffffu, all.top, step), __shfl_xor_sync(0xffffffffu, all.sum, step),
                        __shfl_xor_sync(0xffffffffu, all.out, step)};
    all = merge(all, other);
  }
  if (lane == 0) {
    out[row] = all.sum > 0 ? all.out / all.sum : 0.0f;
    lse[row] = all.sum > 0 ? all.top + logf(all.sum) : -INFINITY;
  }
}

}  // namespace

void online_softmax(const float* scores, const float* values, float* out, float* lse, int rows, int cols, void*,
                    std::size_t, cudaStream_t stream) {
  online_softmax_kernel<<<(rows + kWarps - 1) / kWarps, 32 * kWarps, 0, stream>>>(scores, values, out, lse, rows, cols);
}
// END(online_softmax)
