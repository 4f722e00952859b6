// replaces: layernorm.cu; fails: layernorm/correct; backend: cpu
// What dropout keeps is not scaled: the expected value of the output changes.
#include "warp_shuffle.hpp"

__device__ static float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}

__global__ void layernorm_kernel(const float* in, const float* gamma, const float* beta, float* out, float* mean,
                                 float* rstd, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  const std::size_t start = std::size_t{blockIdx.x} * cols;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += in[start + c];
  const float m = warp_sum(sum) / static_cast<float>(cols);
  for (int c = threadIdx.x; c < cols; c += 32) squares += (in[start + c] - m) * (in[start + c] - m);
  const float r = rsqrtf(warp_sum(squares) / static_cast<float>(cols) + kEpsilon);
  mean[blockIdx.x] = m;
  rstd[blockIdx.x] = r;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const auto i = static_cast<std::uint32_t>(start + c);
    const bool keep = dropout_keeps(dropout_bits(seed, i / 4), static_cast<int>(i % 4), drop);
    out[start + c] = keep ? ((in[start + c] - m) * r * gamma[c] + beta[c]) : 0;
  }
}

void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t, cudaStream_t stream) {
  layernorm_kernel<<<rows, 32, 0, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop,
                                            256.0f / static_cast<float>(256 - drop));
}
