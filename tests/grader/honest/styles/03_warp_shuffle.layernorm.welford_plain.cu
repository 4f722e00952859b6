// Style: Welford statistics of the values as they are, merged as Chan does, eight rows in a block, one barrier.
#include <array>

#include "warp_shuffle.hpp"

namespace {

constexpr int kRows = 8, kBlock = 256;

struct Welford {
  float mean, m2, n;
  __device__ void push(float x) {
    n += 1.0f;
    const float d = x - mean;
    mean += d / n;
    m2 += d * (x - mean);
  }
  __device__ void merge(const Welford& o) {
    const float total = n + o.n;
    if (total == 0.0f) return;
    const float d = o.mean - mean, share = o.n / total;
    mean += d * share;
    m2 += o.m2 + d * d * n * share;
    n = total;
  }
};

__device__ Welford from_partner(const Welford& w, int mask) {
  return {__shfl_xor_sync(0xffffffffu, w.mean, mask), __shfl_xor_sync(0xffffffffu, w.m2, mask),
          __shfl_xor_sync(0xffffffffu, w.n, mask)};
}

// in, out: rows x cols; gamma, beta: cols; mean, rstd: rows. A thread has `4 * packs` columns of each of 8 rows.
template <bool kVector>
__global__ void __launch_bounds__(kBlock)
    layernorm_welford(const float* __restrict__ in, const float* __restrict__ gamma, const float* __restrict__ beta,
                      float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd, int rows, int cols,
                      std::uint32_t seed, std::uint32_t drop) {
  __shared__ float4 parts[kBlock / 32][kRows];
  const int row0 = blockIdx.x * kRows, count = min(kRows, rows - row0);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::array<float4, kRows> x{};
  Welford stats[kRows] = {};
  if constexpr (kVector) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool inside = r < count && 4 * threadIdx.x < cols;
      if (inside) x[r] = reinterpret_cast<const float4*>(in + static_cast<std::size_t>(row0 + r) * cols)[threadIdx.x];
      if (!inside) continue;
      for (float v : {x[r].x, x[r].y, x[r].z, x[r].w}) stats[r].push(v);
    }
  } else {
    for (int r = 0; r < count; ++r) {
      const float* from = in + static_cast<std::size_t>(row0 + r) * cols;
      for (int c = threadIdx.x; c < cols; c += kBlock) stats[r].push(from[c]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    for (int mask = 16; mask > 0; mask >>= 1) stats[r].merge(from_partner(stats[r], mask));
  // Lane r takes row r to shared memory: one request a warp.
  Welford mine = stats[0];
#pragma unroll
  for (int r = 1; r < kRows; ++r)
    if (lane == r) mine = stats[r];
  if (lane < kRows) parts[warp][lane] = make_float4(mine.mean, mine.m2, mine.n, 0);
  __syncthreads();
  // Lane l reads the numbers of row l % 8 from warps l / 8 and 4 + l / 8.
  const float4 p = parts[lane / 8][lane % 8], q = parts[4 + lane / 8][lane % 8];
  Welford all{p.x, p.y, p.z};
  all.merge({q.x, q.y, q.z});
  all.merge(from_partner(all, 8));
  all.merge(from_partner(all, 16));
  const float my_rstd = rsqrtf(all.m2 / static_cast<float>(cols) + kEpsilon);
  if (warp == 0 && lane < count) mean[row0 + lane] = all.mean, rstd[row0 + lane] = my_rstd;

  const float keep = 256.0f / static_cast<float>(256 - drop);
  if constexpr (kVector) {
    float4 g{}, b{};
    if (4 * threadIdx.x < cols) {
      g = reinterpret_cast<const float4*>(gamma)[threadIdx.x];
      b = reinterpret_cast<const float4*>(beta)[threadIdx.x];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float m = __shfl_sync(0xffffffffu, all.mean, r), s = __shfl_sync(0xffffffffu, my_rstd, r);
      if (r >= count || 4 * threadIdx.x >= cols) continue;
      const std::size_t i = static_cast<std::size_t>(row0 + r) * (cols / 4) + threadIdx.x;
      const std::uint32_t bits = dropout_bits(seed, static_cast<std::uint32_t>(i));
      float4 y;
      y.x = dropout_keeps(bits, 0, drop) ? ((x[r].x - m) * s * g.x + b.x) * keep : 0.0f;
      y.y = dropout_keeps(bits, 1, drop) ? ((x[r].y - m) * s * g.y + b.y) * keep : 0.0f;
      y.z = dropout_keeps(bits, 2, drop) ? ((x[r].z - m) * s * g.z + b.z) * keep : 0.0f;
      y.w = dropout_keeps(bits, 3, drop) ? ((x[r].w - m) * s * g.w + b.w) * keep : 0.0f;
      reinterpret_cast<float4*>(out)[i] = y;
    }
  } else {
    for (int r = 0; r < kRows; ++r) {
      const float m = __shfl_sync(0xffffffffu, all.mean, r), s = __shfl_sync(0xffffffffu, my_rstd, r);
      if (r >= count) continue;
      for (int c = threadIdx.x; c < cols; c += kBlock) {
        const std::size_t e = static_cast<std::size_t>(row0 + r) * cols + c;
        const std::uint32_t bits = dropout_bits(seed, static_cast<std::uint32_t>(e / 4));
        out[e] = dropout_keeps(bits, static_cast<int>(e % 4), drop) ? ((in[e] - m) * s * gamma[c] + beta[c]) * keep : 0;
      }
    }
  }
}

}  // namespace

void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t, cudaStream_t stream) {
  const int grid = (rows + kRows - 1) / kRows;
  if (cols % 4 == 0 && cols <= 4 * kBlock)
    layernorm_welford<true><<<grid, kBlock, 0, stream>>>(in, gamma, beta, out, mean, rstd, rows, cols, seed, drop);
  else
    layernorm_welford<false><<<grid, kBlock, 0, stream>>>(in, gamma, beta, out, mean, rstd, rows, cols, seed, drop);
}
