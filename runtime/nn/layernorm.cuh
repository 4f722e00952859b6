// Layer norm over the channels: y = gamma (x - mean) rstd + beta, rstd = 1 / sqrt(variance + epsilon).
#pragma once
#include "nn/check.hpp"
#include "nn/columns.cuh"
#include "nn/numbers.cuh"

namespace nn {

constexpr float kLayerNormEpsilon = 1e-5f;

// x, y: (N, C); gamma, beta: (C); mean, rstd: (N), kept for backward. A warp a row, W elements a lane and turn. Squares
// are taken from the mean, in a second pass over x: sum(x^2) - sum(x)^2 / C would lose digits where the mean is large.
template <class T, int W>
__global__ void layernorm_forward_kernel(const T* x, const T* gamma, const T* beta, T* y, float* mean, float* rstd,
                                         int N, int C) {
  const int first = static_cast<int>(threadIdx.x) * W;
  const int n = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (n >= N) return;
  const T* from = x + static_cast<std::size_t>(n) * C;
  T* to = y + static_cast<std::size_t>(n) * C;
  float sum = 0, squares = 0;
  for (int c = first; c < C; c += 32 * W) {
    const Pack<T, W> v = load_pack<W>(from + c);
    for (int i = 0; i < W; ++i) sum += to_float(v.of[i]);
  }
  const float m = warp_sum(sum) / static_cast<float>(C);
  for (int c = first; c < C; c += 32 * W) {
    const Pack<T, W> v = load_pack<W>(from + c);
    for (int i = 0; i < W; ++i) {
      const float d = to_float(v.of[i]) - m;
      squares += d * d;
    }
  }
  const float s = rsqrtf(warp_sum(squares) / static_cast<float>(C) + kLayerNormEpsilon);
  for (int c = first; c < C; c += 32 * W) {
    Pack<T, W> v = load_pack<W>(from + c);
    const Pack<T, W> g = load_pack<W>(gamma + c), b = load_pack<W>(beta + c);
    for (int i = 0; i < W; ++i) store(v.of + i, (to_float(v.of[i]) - m) * s * to_float(g.of[i]) + to_float(b.of[i]));
    store_pack(to + c, v);
  }
  if (first == 0) mean[n] = m, rstd[n] = s;
}

// dy, x, dx: (N, C); gamma: (C); mean, rstd: (N). With xhat = (x - mean) rstd and g = gamma dy:
//   dx = rstd (g - mean over C of g - xhat * mean over C of (g xhat)) + add
// The two means are how a channel acts through the row's mean and variance. add: (N, C) or null, the gradient that
// comes past the norm along the residual; it may be dx itself.
template <class T, int W>
__global__ void layernorm_backward_kernel(const T* dy, const T* x, const T* gamma, const float* mean, const float* rstd,
                                          const T* add, T* dx, int N, int C) {
  const int first = static_cast<int>(threadIdx.x) * W;
  const int n = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (n >= N) return;
  const std::size_t row = static_cast<std::size_t>(n) * C;
  const float m = mean[n], s = rstd[n];
  float sum = 0, product = 0;
  for (int c = first; c < C; c += 32 * W) {
    const Pack<T, W> of_gamma = load_pack<W>(gamma + c), of_dy = load_pack<W>(dy + row + c),
                     of_x = load_pack<W>(x + row + c);
    for (int i = 0; i < W; ++i) {
      const float g = to_float(of_gamma.of[i]) * to_float(of_dy.of[i]);
      sum += g;
      product += g * (to_float(of_x.of[i]) - m) * s;
    }
  }
  sum = warp_sum(sum) / static_cast<float>(C);
  product = warp_sum(product) / static_cast<float>(C);
  for (int c = first; c < C; c += 32 * W) {
    const Pack<T, W> of_gamma = load_pack<W>(gamma + c), of_dy = load_pack<W>(dy + row + c);
    Pack<T, W> v = load_pack<W>(x + row + c), past = {};
    if (add != nullptr) past = load_pack<W>(add + row + c);
    for (int i = 0; i < W; ++i) {
      const float g = to_float(of_gamma.of[i]) * to_float(of_dy.of[i]), xhat = (to_float(v.of[i]) - m) * s;
      store(v.of + i, s * (g - sum - xhat * product) + to_float(past.of[i]));
    }
    store_pack(dx + row + c, v);
  }
}

// dgamma: sum of dy xhat, dbeta: sum of dy, over the rows.
template <class T>
struct LayerNormTerm {
  static constexpr int kSums = 2;
  const T *dy, *x;
  const float *mean, *rstd;
  int C;
  template <int W>
  __device__ void add(int n, int c, float (&sums)[kSums][W]) const {
    const std::size_t at = static_cast<std::size_t>(n) * C + c;
    const Pack<T, W> of_dy = load_pack<W>(dy + at), of_x = load_pack<W>(x + at);
    for (int i = 0; i < W; ++i) {
      const float d = to_float(of_dy.of[i]);
      sums[0][i] += d * (to_float(of_x.of[i]) - mean[n]) * rstd[n];
      sums[1][i] += d;
    }
  }
};

template <class T>
void layernorm_forward(const T* x, const T* gamma, const T* beta, T* y, float* mean, float* rstd, int N, int C,
                       cudaStream_t stream) {
  with_width<T>(
      C,
      [&](auto W) {
        layernorm_forward_kernel<T, W>
            <<<blocks_for(N, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(x, gamma, beta, y, mean, rstd, N, C);
      },
      x, gamma, beta, y);
  check_launch("layernorm_forward_kernel");
}

// dgamma, dbeta: (C), added to. scratch: column_scratch(C) floats. dx == dy is not allowed: dgamma reads dy after dx is
// written.
template <class T>
void layernorm_backward(const T* dy, const T* x, const T* gamma, const float* mean, const float* rstd, const T* add,
                        T* dx, float* dgamma, float* dbeta, int N, int C, float* scratch, cudaStream_t stream) {
  with_width<T>(
      C,
      [&](auto W) {
        layernorm_backward_kernel<T, W><<<blocks_for(N, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(
            dy, x, gamma, mean, rstd, add, dx, N, C);
      },
      dy, x, gamma, add, dx);
  check_launch("layernorm_backward_kernel");
  column_sums<T>(LayerNormTerm<T>{dy, x, mean, rstd, C}, N, C, dgamma, dbeta, scratch, stream, dy, x);
}

}  // namespace nn
