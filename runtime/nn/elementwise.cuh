// The work between the matrix products: biases, GELU, residuals. Each kernel moves every element once, and what can
// share a pass does. A block a row; a thread moves W elements at a time.
#pragma once
#include <algorithm>

#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

// GELU by its tanh approximation (as in GPT-2): 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
constexpr float kGeluScale = 0.7978845608f, kGeluCube = 0.044715f;

__device__ inline float gelu(float x) { return 0.5f * x * (1 + tanhf(kGeluScale * (x + kGeluCube * x * x * x))); }

__device__ inline float gelu_slope(float x) {
  const float t = tanhf(kGeluScale * (x + kGeluCube * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCube * x * x);
}

// x: (N, O) += bias: (O).
template <class T, int W>
__global__ void bias_kernel(T* x, const T* bias, int O) {
  T* row = x + static_cast<std::size_t>(blockIdx.x) * O;
  for (int c = static_cast<int>(threadIdx.x) * W; c < O; c += static_cast<int>(blockDim.x) * W) {
    Pack<T, W> v = load_pack<W>(row + c);
    const Pack<T, W> b = load_pack<W>(bias + c);
    for (int i = 0; i < W; ++i) store(v.of + i, to_float(v.of[i]) + to_float(b.of[i]));
    store_pack(row + c, v);
  }
}

// x: (N, O) += bias: (O), kept for backward; y = gelu(x), of the sum before it is rounded to T.
template <class T, int W>
__global__ void bias_gelu_kernel(T* x, const T* bias, T* y, int O) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * O;
  for (int c = static_cast<int>(threadIdx.x) * W; c < O; c += static_cast<int>(blockDim.x) * W) {
    Pack<T, W> v = load_pack<W>(x + row + c), g;
    const Pack<T, W> b = load_pack<W>(bias + c);
    for (int i = 0; i < W; ++i) {
      const float sum = to_float(v.of[i]) + to_float(b.of[i]);
      store(v.of + i, sum);
      store(g.of + i, gelu(sum));
    }
    store_pack(x + row + c, v);
    store_pack(y + row + c, g);
  }
}

// dy: (N, O), becomes dx in place; x: (N, O), what GELU was given.
template <class T, int W>
__global__ void gelu_backward_kernel(const T* x, T* dy, int O) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * O;
  for (int c = static_cast<int>(threadIdx.x) * W; c < O; c += static_cast<int>(blockDim.x) * W) {
    const Pack<T, W> v = load_pack<W>(x + row + c);
    Pack<T, W> d = load_pack<W>(dy + row + c);
    for (int i = 0; i < W; ++i) store(d.of + i, to_float(d.of[i]) * gelu_slope(to_float(v.of[i])));
    store_pack(dy + row + c, d);
  }
}

// y = residual + x + bias. residual, x, y: (N, C); bias: (C). y may be x.
template <class T, int W>
__global__ void bias_residual_kernel(const T* residual, const T* x, const T* bias, T* y, int C) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * C;
  for (int c = static_cast<int>(threadIdx.x) * W; c < C; c += static_cast<int>(blockDim.x) * W) {
    const Pack<T, W> r = load_pack<W>(residual + row + c), b = load_pack<W>(bias + c);
    Pack<T, W> v = load_pack<W>(x + row + c);
    for (int i = 0; i < W; ++i) store(v.of + i, to_float(r.of[i]) + to_float(v.of[i]) + to_float(b.of[i]));
    store_pack(y + row + c, v);
  }
}

// Threads of a block that takes a row of so many packs.
inline int row_threads(int packs) { return std::min(kThreads, (packs + 31) / 32 * 32); }

template <class T>
void add_bias(T* x, const T* bias, int N, int O, cudaStream_t stream) {
  with_width<T>(
      O, [&](auto W) { bias_kernel<T, W><<<N, row_threads(O / W), 0, stream>>>(x, bias, O); }, x, bias);
  check_launch("bias_kernel");
}

template <class T>
void bias_gelu(T* x, const T* bias, T* y, int N, int O, cudaStream_t stream) {
  with_width<T>(
      O, [&](auto W) { bias_gelu_kernel<T, W><<<N, row_threads(O / W), 0, stream>>>(x, bias, y, O); }, x, bias, y);
  check_launch("bias_gelu_kernel");
}

template <class T>
void gelu_backward(const T* x, T* dy, int N, int O, cudaStream_t stream) {
  with_width<T>(
      O, [&](auto W) { gelu_backward_kernel<T, W><<<N, row_threads(O / W), 0, stream>>>(x, dy, O); }, x, dy);
  check_launch("gelu_backward_kernel");
}

template <class T>
void bias_residual(const T* residual, const T* x, const T* bias, T* y, int N, int C, cudaStream_t stream) {
  with_width<T>(
      C, [&](auto W) { bias_residual_kernel<T, W><<<N, row_threads(C / W), 0, stream>>>(residual, x, bias, y, C); },
      residual, x, bias, y);
  check_launch("bias_residual_kernel");
}

}  // namespace nn
