// Cross entropy of the next token: loss[n] = log(sum over v < V of exp(logits[n, v])) - logits[n, target[n]], in nats.
#pragma once
#include <cmath>

#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

// logits: (N, Vp), of which V columns count; targets, losses: (N). A block a row. The logits become their own gradient
// in place, scale (softmax - [v is the target]), where scale is not 0: with V = 50257 they are the largest tensor of
// the model, and nobody needs them afterwards. Columns from V on get 0. factor: one float on the device that the
// gradient is multiplied by too (a loss scale that the host never sees), or null.
template <class T, int W>
__global__ void cross_entropy_kernel(T* logits, const int* targets, float* losses, float scale, int V, int Vp,
                                     const float* factor) {
  __shared__ float of_warp[2][32];
  const int n = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x) * W;
  T* row = logits + static_cast<std::size_t>(n) * Vp;
  const int target = targets[n];
  const float of_target = to_float(row[target]);  // before any thread overwrites it: the barriers are below
  float top = -INFINITY, sum = 0;
  for (int v = thread * W; v < V; v += step) {
    const Pack<T, W> x = load_pack<W>(row + v);
    for (int i = 0; i < W; ++i)
      if (v + i < V) top = fmaxf(top, to_float(x.of[i]));
  }
  top = block_max(top, of_warp[0]);
  for (int v = thread * W; v < V; v += step) {
    const Pack<T, W> x = load_pack<W>(row + v);
    for (int i = 0; i < W; ++i)
      if (v + i < V) sum += exp_approx(to_float(x.of[i]) - top);
  }
  sum = block_sum(sum, of_warp[1]);
  if (thread == 0) losses[n] = logf(sum) + top - of_target;
  if (scale == 0) return;
  if (factor != nullptr) scale *= *factor;
  const float inverse = 1 / sum;
  for (int v = thread * W; v < Vp; v += step) {
    Pack<T, W> x = load_pack<W>(row + v);
    for (int i = 0; i < W; ++i) {
      const float p = v + i < V ? exp_approx(to_float(x.of[i]) - top) * inverse : 0.0f;
      store(x.of + i, scale * (p - (v + i == target ? 1.0f : 0.0f)));
    }
    store_pack(row + v, x);
  }
}

// *total += scale * the sum of values: (N). One block, so that the order is fixed.
static __global__ void add_sum_kernel(const float* values, int N, float scale, float* total) {
  __shared__ float of_warp[32];
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < N; i += static_cast<int>(blockDim.x)) sum += values[i];
  sum = block_sum(sum, of_warp);
  if (threadIdx.x == 0) *total += scale * sum;
}

// scale: of the gradient, 1 / (tokens of the update), times the loss scale in fp16 where it is not *factor; 0: loss
// only, logits stay.
template <class T>
void cross_entropy(T* logits, const int* targets, float* losses, float scale, int N, int V, int Vp, cudaStream_t stream,
                   const float* factor = nullptr) {
  const int threads = V >= 1024 ? 1024 : V > 128 ? 128 : 32;
  with_width<T>(
      Vp,
      [&](auto W) {
        cross_entropy_kernel<T, W><<<N, threads, 0, stream>>>(logits, targets, losses, scale, V, Vp, factor);
      },
      logits);
  check_launch("cross_entropy_kernel");
}

inline void add_sum(const float* values, int N, float scale, float* total, cudaStream_t stream) {
  add_sum_kernel<<<1, N >= 1024 ? 1024 : 128, 0, stream>>>(values, N, scale, total);
  check_launch("add_sum_kernel");
}

}  // namespace nn
