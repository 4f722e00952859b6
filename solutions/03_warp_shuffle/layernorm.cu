// Lab 03, task `layernorm`: y = dropout((x - mean) * rstd * gamma + beta), and mean and rstd of each row.
//
// The kernel below lets one thread do a whole row and drops nothing. Give rows to blocks, sum with shuffles, and read
// every element once. Run: ./ridge check 03 --task layernorm
#include "warp_shuffle.hpp"

// TASK(layernorm)
#include <cuda_pipeline.h>

constexpr unsigned kWarp = 0xffffffffu;

// kRows sums over the lanes at once; lane l gets the sum of row l % kRows. In the first steps a lane gives away half of
// its rows and takes the partner's half of the others: kRows - 1 shuffles there, not kRows for each step.
template <int kRows>
static __device__ float warp_sums(float (&x)[kRows], int lane) {
#pragma unroll
  for (int half = kRows / 2; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int r = 0; r < half; ++r) {
      const float give = upper ? x[r] : x[r + half], keep = upper ? x[r + half] : x[r];
      x[r] = keep + __shfl_xor_sync(kWarp, give, half);
    }
  }
#pragma unroll
  for (int step = kRows; step < 32; step *= 2) x[0] += __shfl_xor_sync(kWarp, x[0], step);
  return x[0];
}

// The sums over the block: x[r] becomes that of row r, in every thread. One barrier; `of_warp` is for this call alone.
template <int kThreads, int kRows>
static __device__ void block_sums(float (&x)[kRows], float* of_warp) {
  constexpr int kSums = kThreads / 32 * kRows;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float sum = warp_sums(x, lane);
  if constexpr (kThreads > 32) {
    if (lane < kRows) of_warp[warp * kRows + lane] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < kSums; i += 32) sum += i + lane < kSums ? of_warp[i + lane] : 0;
#pragma unroll
    for (int step = kRows; step < 32; step *= 2) sum += __shfl_xor_sync(kWarp, sum, step);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) x[r] = __shfl_sync(kWarp, sum, r);
}

static __device__ float4 minus(float4 v, float m) { return make_float4(v.x - m, v.y - m, v.z - m, v.w - m); }

// in, out: rows x cols, cols a multiple of 4 and at most 4 kThreads kVectors; gamma, beta: cols; mean, rstd: rows. A
// block holds kRows rows, the last kShared of them in shared memory, and reads gamma and beta once for all of them.
template <int kThreads, int kVectors, int kRows, int kShared>
__global__ void __launch_bounds__(kThreads, kThreads == 512 ? 2 : 1)
    layernorm_held(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                   int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  constexpr int kHeld = kRows - kShared;
  __shared__ float of_warp[2][kThreads / 32 * kRows];
  extern __shared__ float4 more[];  // kShared x kVectors x kThreads; a thread reads what it has written only
  const int thread = static_cast<int>(threadIdx.x), vectors = cols / 4;
  const int first = static_cast<int>(blockIdx.x) * kRows;

  float4 held[kHeld][kVectors];
#pragma unroll
  for (int r = kRows - 1; r >= 0; --r) {  // shared memory first: these copies take no registers
    const auto* from = reinterpret_cast<const float4*>(in + static_cast<std::size_t>(first + r) * cols);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int i = k * kThreads + thread;
      const bool inside = first + r < rows && i < vectors;
      if (r < kHeld) {
        held[r % kHeld][k] = inside ? __ldcs(from + i) : make_float4(0, 0, 0, 0);
      } else {
        float4* to = more + ((r - kHeld) * kVectors + k) * kThreads + thread;
        if (inside)
          __pipeline_memcpy_async(to, from + i, sizeof(float4));
        else
          *to = make_float4(0, 0, 0, 0);
      }
    }
    if (r == kHeld) __pipeline_commit();
  }
  auto x = [&](int r, int k) {
    return r < kHeld ? held[r % kHeld][k] : more[((r - kHeld) * kVectors + k) * kThreads + thread];
  };

  float m[kRows], s[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r == kHeld) __pipeline_wait_prior(0);
    m[r] = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const float4 v = x(r, k);
      m[r] += (v.x + v.y) + (v.z + v.w);
    }
  }
  block_sums<kThreads>(m, of_warp[0]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    m[r] /= static_cast<float>(cols);
    s[r] = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const float4 d = minus(x(r, k), m[r]);
      if (k * kThreads + thread < vectors) s[r] += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
    }
  }
  block_sums<kThreads>(s, of_warp[1]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    s[r] = rsqrtf(s[r] / static_cast<float>(cols) + kEpsilon);
    if (thread == 0 && first + r < rows) {
      mean[first + r] = m[r];
      rstd[first + r] = s[r];
    }
  }

#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int i = k * kThreads + thread;
    if (i >= vectors) continue;
    const float4 g = reinterpret_cast<const float4*>(gamma)[i], b = reinterpret_cast<const float4*>(beta)[i];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= rows) continue;
      const auto q = static_cast<std::uint32_t>(first + r) * vectors + i;  // this vector in the whole tensor
      const std::uint32_t bits = dropout_bits(seed, q);
      const float4 d = minus(x(r, k), m[r]);
      reinterpret_cast<float4*>(out)[q] =
          make_float4(dropout_keeps(bits, 0, drop) ? (d.x * s[r] * g.x + b.x) * scale : 0,
                      dropout_keeps(bits, 1, drop) ? (d.y * s[r] * g.y + b.y) * scale : 0,
                      dropout_keeps(bits, 2, drop) ? (d.z * s[r] * g.z + b.z) * scale : 0,
                      dropout_keeps(bits, 3, drop) ? (d.w * s[r] * g.w + b.w) * scale : 0);
    }
  }
}

// Any cols: a block a row, read three times.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    layernorm_any(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                  int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * cols;
  float m[1] = {0}, s[1] = {0};
  for (int c = thread; c < cols; c += kThreads) m[0] += in[start + c];
  block_sums<kThreads>(m, of_warp[0]);
  m[0] /= static_cast<float>(cols);
  for (int c = thread; c < cols; c += kThreads) s[0] += (in[start + c] - m[0]) * (in[start + c] - m[0]);
  block_sums<kThreads>(s, of_warp[1]);
  s[0] = rsqrtf(s[0] / static_cast<float>(cols) + kEpsilon);
  if (thread == 0) {
    mean[blockIdx.x] = m[0];
    rstd[blockIdx.x] = s[0];
  }
  for (int c = thread; c < cols; c += kThreads) {
    const auto i = static_cast<std::uint32_t>(start + c);
    const bool keep = dropout_keeps(dropout_bits(seed, i / 4), static_cast<int>(i % 4), drop);
    out[start + c] = keep ? ((in[start + c] - m[0]) * s[0] * gamma[c] + beta[c]) * scale : 0;
  }
}

void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t, cudaStream_t stream) {
  const float scale = 256.0f / static_cast<float>(256 - drop);
  auto held = [&](auto* kernel, int threads, int rows_of_block, int bytes) {
    if (bytes > 48 * 1024) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<(rows + rows_of_block - 1) / rows_of_block, threads, bytes, stream>>>(in, gamma, beta, out, mean, rstd,
                                                                                   rows, cols, seed, drop, scale);
  };
  // 32 elements a thread in registers, of as many rows as they are enough for; of long rows a second one in shared
  // memory.
  if (cols % 4 != 0 || cols > 32768) {
    layernorm_any<256><<<rows, 256, 0, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop, scale);
  } else if (cols <= 256) {
    held(layernorm_held<64, 1, 8, 0>, 64, 8, 0);
  } else if (cols <= 1024) {
    held(layernorm_held<256, 1, 8, 0>, 256, 8, 0);
  } else if (cols <= 4096) {
    held(layernorm_held<512, 2, 4, 0>, 512, 4, 0);
  } else if (cols <= 16384) {
    held(layernorm_held<512, 8, 2, 1>, 512, 2, 64 * 1024);
  } else {
    held(layernorm_held<1024, 8, 2, 1>, 1024, 2, 128 * 1024);
  }
}
// END(layernorm)
