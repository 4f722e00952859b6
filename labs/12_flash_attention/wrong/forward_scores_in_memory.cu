// replaces: forward.cu; fails: forward/stores; backend: cpu
// Scores and weights pass through an array of length x length: each is written twice and read four times.
#include <cmath>

#include "flash_attention.hpp"

// scores: (heads, length, length); q, k: (heads, length, d). A thread an element.
__global__ void scores_kernel(const float* q, const float* k, float* scores, int length, int d, float scale) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = static_cast<int>(blockIdx.y);
  if (j >= length) return;
  const std::size_t head = static_cast<std::size_t>(blockIdx.z) * length;
  float sum = 0;
  for (int c = 0; c < d; ++c) sum += q[(head + i) * d + c] * k[(head + j) * d + c];
  scores[(head + i) * length + j] = sum * scale;
}

// A thread a query: its weights in place of its scores.
__global__ void softmax_kernel(float* scores, float* lse, int length) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= length) return;
  const std::size_t row = static_cast<std::size_t>(blockIdx.y) * length + i;
  float top = -INFINITY, sum = 0;
  for (int j = 0; j < length; ++j) top = fmaxf(top, scores[row * length + j]);
  for (int j = 0; j < length; ++j) sum += expf(scores[row * length + j] - top);
  for (int j = 0; j < length; ++j) scores[row * length + j] = expf(scores[row * length + j] - top) / sum;
  lse[row] = top + logf(sum);
}

// A thread an element of o.
__global__ void values_kernel(const float* scores, const float* v, float* o, int length, int d) {
  const int c = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x);
  const std::size_t head = static_cast<std::size_t>(blockIdx.y) * length;
  float sum = 0;
  for (int j = 0; j < length; ++j) sum += scores[(head + i) * length + j] * v[(head + j) * d + c];
  o[(head + i) * d + c] = sum;
}

void forward(const float* q, const float* k, const float* v, float* o, float* lse, int batch, int heads, int length,
             int head_dim, void*, std::size_t, cudaStream_t stream) {
  const int all = batch * heads;
  float* scores = nullptr;
  cudaMallocAsync(&scores, static_cast<std::size_t>(all) * length * length * sizeof(float), stream);
  scores_kernel<<<dim3((length + 127) / 128, length, all), 128, 0, stream>>>(
      q, k, scores, length, head_dim, 1 / std::sqrt(static_cast<float>(head_dim)));
  softmax_kernel<<<dim3((length + 31) / 32, all), 32, 0, stream>>>(scores, lse, length);
  values_kernel<<<dim3(length, all), head_dim, 0, stream>>>(scores, v, o, length, head_dim);
  cudaFreeAsync(scores, stream);
}
