// AdamW, and the clipping of the gradient by its norm. Weights, moments and gradients are fp32 here whatever the
// activations are: an update of 1e-4 of a weight is below half a unit of bf16's eight bits, and adding it would change
// nothing.
#pragma once
#include <algorithm>
#include <cmath>

#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

struct AdamWStep {
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  // 1 - beta^t of step t = 1, 2, ...: the moments start at 0, and are too small by this factor.
  float correction1, correction2;
};

inline AdamWStep adamw_step(int t, float learning_rate, float beta1, float beta2, float epsilon, float weight_decay) {
  return {learning_rate,
          beta1,
          beta2,
          epsilon,
          weight_decay,
          static_cast<float>(1 - std::pow(static_cast<double>(beta1), t)),
          static_cast<float>(1 - std::pow(static_cast<double>(beta2), t))};
}

// master, gradient, m, v: (n) floats; copy: (n) of the type that the products read, which may be master itself (T =
// float). factor: one float on the device that all gradients are multiplied by (clipping, loss scale), or null. decays:
// a byte for every kDecayPart elements, 0 where they have no weight decay, or null: all have it. W elements a thread.
constexpr std::size_t kDecayPart = 64;

template <class T, int W>
__global__ void adamw_kernel(float* master, T* copy, const float* gradient, float* m, float* v, std::size_t n,
                             AdamWStep s, const float* factor, const unsigned char* decays) {
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * W;
  if (i >= n) return;
  const float scale = factor == nullptr ? 1.0f : *factor;
  const float decay = decays == nullptr || decays[i / kDecayPart] != 0 ? s.weight_decay : 0.0f;
  const Pack<float, W> g = load_pack<W>(gradient + i);
  Pack<float, W> w = load_pack<W>(master + i), mean = load_pack<W>(m + i), square = load_pack<W>(v + i);
  Pack<T, W> rounded;
  for (int k = 0; k < W; ++k) {
    const float x = g.of[k] * scale;
    mean.of[k] = s.beta1 * mean.of[k] + (1 - s.beta1) * x;
    square.of[k] = s.beta2 * square.of[k] + (1 - s.beta2) * x * x;
    const float step = mean.of[k] / s.correction1 / (sqrtf(square.of[k] / s.correction2) + s.epsilon);
    w.of[k] -= s.learning_rate * (step + decay * w.of[k]);
    store(rounded.of + k, w.of[k]);
  }
  store_pack(master + i, w), store_pack(m + i, mean), store_pack(v + i, square);
  store_pack(copy + i, rounded);
}

template <class T>
void adamw(float* master, T* copy, const float* gradient, float* m, float* v, std::size_t n, const AdamWStep& step,
           const float* factor, cudaStream_t stream, const unsigned char* decays = nullptr) {
  with_width<float>(
      static_cast<int>(n % 4),
      [&](auto W) {
        adamw_kernel<T, W><<<blocks_for(n / W, kThreads), kThreads, 0, stream>>>(master, copy, gradient, m, v, n, step,
                                                                                 factor, decays);
      },
      master, copy, gradient, m, v);
  check_launch("adamw_kernel");
}

constexpr int kNormBlocks = 1024;  // at most; so many floats of scratch

// partial[block] = the sum of squares of the elements that this block takes, in a fixed order. gradient: (n).
template <int W>
__global__ void squares_kernel(const float* gradient, std::size_t n, float* partial) {
  __shared__ float of_warp[32];
  float sum = 0;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x * W;
#pragma unroll 4
  for (std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * W; i < n; i += stride) {
    const Pack<float, W> g = load_pack<W>(gradient + i);
    for (int k = 0; k < W; ++k) sum += g.of[k] * g.of[k];
  }
  sum = block_sum(sum, of_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// norm[0] = unscale * sqrt(sum of partial: (blocks)); norm[1] = what gradients are to be multiplied by, so that their
// norm is at most `clip` (0: any). The host never waits for it. One block.
static __global__ void norm_kernel(const float* partial, int blocks, float clip, float unscale, float* norm) {
  __shared__ float of_warp[32];
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += static_cast<int>(blockDim.x)) sum += partial[i];
  sum = block_sum(sum, of_warp);
  if (threadIdx.x != 0) return;
  norm[0] = unscale * sqrtf(sum);
  norm[1] = unscale * (clip > 0 && norm[0] > clip ? clip / norm[0] : 1.0f);
}

// partial: (blocks), `most` at most; returns how many.
inline int squares(const float* gradient, std::size_t n, int most, float* partial, cudaStream_t stream) {
  const int blocks = std::min(most, blocks_for(n, 4 * kThreads));
  with_width<float>(
      static_cast<int>(n % 4),
      [&](auto W) { squares_kernel<W><<<blocks, kThreads, 0, stream>>>(gradient, n, partial); }, gradient);
  check_launch("squares_kernel");
  return blocks;
}

// norm: 2 floats, as above. unscale: 1 / the loss scale.
inline void norm_of(const float* partial, int blocks, float clip, float unscale, float* norm, cudaStream_t stream) {
  norm_kernel<<<1, kThreads, 0, stream>>>(partial, blocks, clip, unscale, norm);
  check_launch("norm_kernel");
}

// scratch: kNormBlocks floats.
inline void gradient_norm(const float* gradient, std::size_t n, float clip, float unscale, float* norm, float* scratch,
                          cudaStream_t stream) {
  norm_of(scratch, squares(gradient, n, kNormBlocks, scratch, stream), clip, unscale, norm, stream);
}

}  // namespace nn
