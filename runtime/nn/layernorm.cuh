// Layer norm over the channels: y = gamma (x - mean) rstd + beta, rstd = 1 / sqrt(variance + epsilon).
#pragma once
#include "nn/check.hpp"
#include "nn/columns.cuh"
#include "nn/numbers.cuh"

namespace nn {

constexpr float kLayerNormEpsilon = 1e-5f;

// x, y: (N, C); gamma, beta: (C); mean, rstd: (N), kept for backward. A warp a row. Squares are taken from the mean, in a
// second pass over x: sum(x^2) - sum(x)^2 / C would lose digits where the mean is large.
template <class T>
__global__ void layernorm_forward_kernel(const T* x, const T* gamma, const T* beta, T* y, float* mean, float* rstd,
                                         int N, int C) {
  const int lane = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (n >= N) return;
  const T* from = x + static_cast<std::size_t>(n) * C;
  T* to = y + static_cast<std::size_t>(n) * C;
  float sum = 0, squares = 0;
  for (int c = lane; c < C; c += 32) sum += to_float(from[c]);
  const float m = warp_sum(sum) / static_cast<float>(C);
  for (int c = lane; c < C; c += 32) {
    const float d = to_float(from[c]) - m;
    squares += d * d;
  }
  const float s = rsqrtf(warp_sum(squares) / static_cast<float>(C) + kLayerNormEpsilon);
  for (int c = lane; c < C; c += 32)
    store(to + c, (to_float(from[c]) - m) * s * to_float(gamma[c]) + to_float(beta[c]));
  if (lane == 0) mean[n] = m, rstd[n] = s;
}

// dy, x, dx: (N, C); gamma: (C); mean, rstd: (N). With xhat = (x - mean) rstd and g = gamma dy:
//   dx = rstd (g - mean over C of g - xhat * mean over C of (g xhat)) + add
// The two means are how a channel acts through the row's mean and variance. add: (N, C) or null, the gradient that comes past
// the norm along the residual; it may be dx itself.
template <class T>
__global__ void layernorm_backward_kernel(const T* dy, const T* x, const T* gamma, const float* mean, const float* rstd,
                                          const T* add, T* dx, int N, int C) {
  const int lane = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (n >= N) return;
  const std::size_t row = static_cast<std::size_t>(n) * C;
  const float m = mean[n], s = rstd[n];
  float sum = 0, product = 0;
  for (int c = lane; c < C; c += 32) {
    const float g = to_float(gamma[c]) * to_float(dy[row + c]);
    sum += g;
    product += g * (to_float(x[row + c]) - m) * s;
  }
  sum = warp_sum(sum) / static_cast<float>(C);
  product = warp_sum(product) / static_cast<float>(C);
  for (int c = lane; c < C; c += 32) {
    const float g = to_float(gamma[c]) * to_float(dy[row + c]), xhat = (to_float(x[row + c]) - m) * s;
    const float past = add == nullptr ? 0.0f : to_float(add[row + c]);
    store(dx + row + c, s * (g - sum - xhat * product) + past);
  }
}

// dgamma: sum of dy xhat, dbeta: sum of dy, over the rows.
template <class T>
struct LayerNormTerm {
  static constexpr int kSums = 2;
  const T *dy, *x;
  const float *mean, *rstd;
  int C;
  __device__ void operator()(int n, int c, float* sums) const {
    const std::size_t i = static_cast<std::size_t>(n) * C + c;
    const float d = to_float(dy[i]);
    sums[0] += d * (to_float(x[i]) - mean[n]) * rstd[n];
    sums[1] += d;
  }
};

template <class T>
void layernorm_forward(const T* x, const T* gamma, const T* beta, T* y, float* mean, float* rstd, int N, int C,
                       cudaStream_t stream) {
  layernorm_forward_kernel<<<blocks_for(N, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(x, gamma, beta, y, mean,
                                                                                               rstd, N, C);
  check_launch("layernorm_forward_kernel");
}

// dgamma, dbeta: (C), added to. scratch: column_scratch(C) floats. dx == dy is not allowed: dgamma reads dy after dx is written.
template <class T>
void layernorm_backward(const T* dy, const T* x, const T* gamma, const float* mean, const float* rstd, const T* add,
                        T* dx, float* dgamma, float* dbeta, int N, int C, float* scratch, cudaStream_t stream) {
  layernorm_backward_kernel<<<blocks_for(N, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(dy, x, gamma, mean,
                                                                                                rstd, add, dx, N, C);
  check_launch("layernorm_backward_kernel");
  column_sums(LayerNormTerm<T>{dy, x, mean, rstd, C}, N, C, dgamma, dbeta, scratch, stream);
}

}  // namespace nn
