// What happens between the matrix products: biases, GELU, residuals. Each kernel moves every element once, and what can share
// a pass does. One thread an element.
#pragma once
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

// x: (elements / O, O) += bias: (O).
template <class T>
__global__ void bias_kernel(T* x, const T* bias, std::size_t elements, int O) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) store(x + i, to_float(x[i]) + to_float(bias[i % O]));
}

// x: (elements / O, O) += bias: (O), kept for backward; y = gelu(x), of the sum before it is rounded to T.
template <class T>
__global__ void bias_gelu_kernel(T* x, const T* bias, T* y, std::size_t elements, int O) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float v = to_float(x[i]) + to_float(bias[i % O]);
  store(x + i, v);
  store(y + i, gelu(v));
}

// dy: (elements), becomes dx in place; x: (elements), what GELU was given.
template <class T>
__global__ void gelu_backward_kernel(const T* x, T* dy, std::size_t elements) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) store(dy + i, to_float(dy[i]) * gelu_slope(to_float(x[i])));
}

// y = residual + x + bias. residual, x, y: (elements / C, C); bias: (C). y may be x.
template <class T>
__global__ void bias_residual_kernel(const T* residual, const T* x, const T* bias, T* y, std::size_t elements, int C) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) store(y + i, to_float(residual[i]) + to_float(x[i]) + to_float(bias[i % C]));
}

// N: rows.
template <class T>
void add_bias(T* x, const T* bias, int N, int O, cudaStream_t stream) {
  const std::size_t elements = static_cast<std::size_t>(N) * O;
  bias_kernel<<<blocks_for(elements, kThreads), kThreads, 0, stream>>>(x, bias, elements, O);
  check_launch("bias_kernel");
}

template <class T>
void bias_gelu(T* x, const T* bias, T* y, int N, int O, cudaStream_t stream) {
  const std::size_t elements = static_cast<std::size_t>(N) * O;
  bias_gelu_kernel<<<blocks_for(elements, kThreads), kThreads, 0, stream>>>(x, bias, y, elements, O);
  check_launch("bias_gelu_kernel");
}

template <class T>
void gelu_backward(const T* x, T* dy, int N, int O, cudaStream_t stream) {
  const std::size_t elements = static_cast<std::size_t>(N) * O;
  gelu_backward_kernel<<<blocks_for(elements, kThreads), kThreads, 0, stream>>>(x, dy, elements);
  check_launch("gelu_backward_kernel");
}

template <class T>
void bias_residual(const T* residual, const T* x, const T* bias, T* y, int N, int C, cudaStream_t stream) {
  const std::size_t elements = static_cast<std::size_t>(N) * C;
  bias_residual_kernel<<<blocks_for(elements, kThreads), kThreads, 0, stream>>>(residual, x, bias, y, elements, C);
  check_launch("bias_residual_kernel");
}

}  // namespace nn
