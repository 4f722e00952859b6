// Style: no shared memory: a warp keeps gamma and beta in 64 registers and walks over 16 rows.
#include "warp_shuffle.hpp"

namespace {

constexpr int kPacks = 8, kRowsOfWarp = 16;

__device__ float all_lanes(float x) {
  for (int lane_mask = 16; lane_mask >= 1; lane_mask >>= 1) x += __shfl_xor_sync(0xffffffff, x, lane_mask, 32);
  return x;
}

struct Norm {
  const float *in, *gamma, *beta;
  float *out, *mean, *rstd;
  int rows, cols;
  std::uint32_t seed, drop;
};

__device__ float finish(float x, float m, float s, float g, float b, std::uint32_t bits, int lane4, std::uint32_t drop,
                        float keep) {
  return dropout_keeps(bits, lane4, drop) ? ((x - m) * s * g + b) * keep : 0.0f;
}

// in, out: rows x cols, cols <= 1024 and a multiple of 4; gamma, beta: cols; mean, rstd: rows
__global__ void __launch_bounds__(64) layernorm_persistent(const Norm p) {
  const int lane = threadIdx.x % 32, vectors = p.cols / 4;
  const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
  float4 g[kPacks], b[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int i = 32 * k + lane;
    g[k] = i < vectors ? __ldg(reinterpret_cast<const float4*>(p.gamma) + i) : zero;
    b[k] = i < vectors ? __ldg(reinterpret_cast<const float4*>(p.beta) + i) : zero;
  }
  const float keep = 256.0f / (256 - p.drop), per = 1.0f / p.cols;
  const int first = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * kRowsOfWarp;
  for (int row = first; row < min(first + kRowsOfWarp, p.rows); ++row) {
    const std::size_t base = static_cast<std::size_t>(row) * vectors;
    float4 x[kPacks];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int i = 32 * k + lane;
      x[k] = i < vectors ? __ldcs(reinterpret_cast<const float4*>(p.in) + base + i) : zero;
      sum += x[k].x + x[k].y + x[k].z + x[k].w;
    }
    const float m = all_lanes(sum) * per;
    float squares = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (32 * k + lane >= vectors) continue;
      const float dx = x[k].x - m, dy = x[k].y - m, dz = x[k].z - m, dw = x[k].w - m;
      squares += dx * dx + dy * dy + dz * dz + dw * dw;
    }
    const float s = rsqrtf(all_lanes(squares) * per + kEpsilon);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int i = 32 * k + lane;
      if (i >= vectors) continue;
      const std::uint32_t bits = dropout_bits(p.seed, static_cast<std::uint32_t>(base + i));
      float4 y;
      y.x = finish(x[k].x, m, s, g[k].x, b[k].x, bits, 0, p.drop, keep);
      y.y = finish(x[k].y, m, s, g[k].y, b[k].y, bits, 1, p.drop, keep);
      y.z = finish(x[k].z, m, s, g[k].z, b[k].z, bits, 2, p.drop, keep);
      y.w = finish(x[k].w, m, s, g[k].w, b[k].w, bits, 3, p.drop, keep);
      __stcs(reinterpret_cast<float4*>(p.out) + base + i, y);
    }
    if (lane == 0) p.mean[row] = m, p.rstd[row] = s;
  }
}

__device__ float all_threads(float x, float* slots) {
  x = all_lanes(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = x;
  __syncthreads();
  return all_lanes(threadIdx.x % 32 < blockDim.x / 32 ? slots[threadIdx.x % 32] : 0.0f);
}

// in, out: rows x cols, any cols; gamma, beta: cols; mean, rstd: rows. A block has a row.
__global__ void layernorm_any(const Norm p) {
  __shared__ float slots[32];
  const std::size_t base = static_cast<std::size_t>(blockIdx.x) * p.cols;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < p.cols; c += blockDim.x) sum += p.in[base + c];
  const float m = all_threads(sum, slots) / p.cols;
  for (int c = threadIdx.x; c < p.cols; c += blockDim.x) {
    const float d = p.in[base + c] - m;
    squares = fmaf(d, d, squares);
  }
  const float s = rsqrtf(all_threads(squares, slots) / p.cols + kEpsilon);
  const float keep = 256.0f / (256 - p.drop);
  for (int c = threadIdx.x; c < p.cols; c += blockDim.x) {
    const std::size_t e = base + c;
    const std::uint32_t bits = dropout_bits(p.seed, static_cast<std::uint32_t>(e / 4));
    p.out[e] = finish(p.in[e], m, s, p.gamma[c], p.beta[c], bits, static_cast<int>(e % 4), p.drop, keep);
  }
  if (threadIdx.x == 0) p.mean[blockIdx.x] = m, p.rstd[blockIdx.x] = s;
}

}  // namespace

void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t, cudaStream_t stream) {
  const Norm p{in, gamma, beta, out, mean, rstd, rows, cols, seed, drop};
  const int threads = cols <= 1024 ? 128 : 512;
  if (cols % 4 == 0 && cols <= 1024)
    layernorm_persistent<<<(rows + 2 * kRowsOfWarp - 1) / (2 * kRowsOfWarp), 64, 0, stream>>>(p);
  else
    layernorm_any<<<rows, threads, 0, stream>>>(p);
}
