// Lab 03, task `layernorm`: y = dropout((x - mean) * rstd * gamma + beta), and mean and rstd of each row.
//
// The kernel below lets one thread do a whole row and drops nothing. Start from your answer to `layernorm_plain`, and
// read every element once. Run: ./ridge check 03 --task layernorm
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

static __device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

static __device__ float squares_of(float4 v, float m) {
  v = make_float4(v.x - m, v.y - m, v.z - m, v.w - m);
  return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
}

// A vector of a row with mean m and 1 / deviation s, as it is stored. `bits`: dropout's for it.
static __device__ float4 finished(float4 v, float m, float s, float4 g, float4 b, std::uint32_t bits,
                                  std::uint32_t drop, float scale) {
  return make_float4(dropout_keeps(bits, 0, drop) ? ((v.x - m) * s * g.x + b.x) * scale : 0,
                     dropout_keeps(bits, 1, drop) ? ((v.y - m) * s * g.y + b.y) * scale : 0,
                     dropout_keeps(bits, 2, drop) ? ((v.z - m) * s * g.z + b.z) * scale : 0,
                     dropout_keeps(bits, 3, drop) ? ((v.w - m) * s * g.w + b.w) * scale : 0);
}

// in, out: rows x cols, cols a multiple of 4 and at most 4 kThreads kVectors; gamma, beta: cols; mean, rstd: rows. A
// block holds kRows rows in registers, and reads gamma and beta once for all of them.
template <int kThreads, int kVectors, int kRows>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    layernorm_held(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                   int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32 * kRows];
  const int thread = static_cast<int>(threadIdx.x), vectors = cols / 4;
  const int first = static_cast<int>(blockIdx.x) * kRows;

  float4 held[kRows][kVectors];  // beyond the end: 0
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const auto* from = reinterpret_cast<const float4*>(in + static_cast<std::size_t>(first + r) * cols);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int i = k * kThreads + thread;
      held[r][k] = first + r < rows && i < vectors ? from[i] : make_float4(0, 0, 0, 0);
    }
  }

  float m[kRows], s[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    m[r] = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) m[r] += sum_of(held[r][k]);
  }
  block_sums<kThreads>(m, of_warp[0]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {  // from the mean: both sums in one pass would lose digits where it is large
    m[r] /= static_cast<float>(cols);
    s[r] = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (k * kThreads + thread < vectors) s[r] += squares_of(held[r][k], m[r]);
  }
  block_sums<kThreads>(s, of_warp[1]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    s[r] = rsqrtf(s[r] / static_cast<float>(cols) + kEpsilon);
    if (thread == r && first + r < rows) {
      mean[first + r] = m[r];
      rstd[first + r] = s[r];
    }
  }

#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int i = k * kThreads + thread;
    if (i >= vectors) continue;
    // Read-only, as the compiler cannot know: stores to out might change them otherwise.
    const float4 g = __ldg(reinterpret_cast<const float4*>(gamma) + i),
                 b = __ldg(reinterpret_cast<const float4*>(beta) + i);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= rows) continue;
      const auto q = static_cast<std::uint32_t>(first + r) * vectors + i;  // this vector in the whole tensor
      reinterpret_cast<float4*>(out)[q] = finished(held[r][k], m[r], s[r], g, b, dropout_bits(seed, q), drop, scale);
    }
  }
}

// in, out: rows x cols, cols a multiple of 4 and at most 4 kThreads (kVectors + kShared); gamma, beta: cols; mean, rstd:
// rows. A block holds one long row: each thread kVectors float4 in registers and kShared in shared memory, which no other
// thread touches. An SM then has room for the next row while one is being written. kFull: every thread has all its vectors.
// A branch around each load and store would keep the next from being issued early: 0.73 of a copy, not 0.96.
template <int kThreads, int kVectors, int kShared, bool kFull>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    layernorm_long(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                   int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  extern __shared__ float4 more[];
  __shared__ float of_warp[2][kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x), vectors = cols / 4;
  const auto* from = reinterpret_cast<const float4*>(in + static_cast<std::size_t>(blockIdx.x) * cols);

  // First the part for shared memory, whose copies take no registers, then the loads. Beyond the end: 0.
#pragma unroll
  for (int k = 0; k < kShared; ++k) {
    const int i = (kVectors + k) * kThreads + thread;
    if (kFull || i < vectors)
      __pipeline_memcpy_async(more + k * kThreads + thread, from + i, sizeof(float4));
    else
      more[k * kThreads + thread] = make_float4(0, 0, 0, 0);
  }
  __pipeline_commit();
  float4 held[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    held[k] = kFull || k * kThreads + thread < vectors ? from[k * kThreads + thread] : make_float4(0, 0, 0, 0);

  float m[1] = {0}, s[1] = {0};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) m[0] += sum_of(held[k]);
  __pipeline_wait_prior(0);  // the thread's own copies have arrived
#pragma unroll 4
  for (int k = 0; k < kShared; ++k) m[0] += sum_of(more[k * kThreads + thread]);
  block_sums<kThreads>(m, of_warp[0]);
  m[0] /= static_cast<float>(cols);
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (kFull || k * kThreads + thread < vectors) s[0] += squares_of(held[k], m[0]);
#pragma unroll 4
  for (int k = 0; k < kShared; ++k)
    if (kFull || (kVectors + k) * kThreads + thread < vectors) s[0] += squares_of(more[k * kThreads + thread], m[0]);
  block_sums<kThreads>(s, of_warp[1]);
  s[0] = rsqrtf(s[0] / static_cast<float>(cols) + kEpsilon);
  if (thread == 0) {
    mean[blockIdx.x] = m[0];
    rstd[blockIdx.x] = s[0];
  }

  auto store = [&](int i, float4 v) {
    const auto q = blockIdx.x * vectors + i;  // this vector in the whole tensor
    const float4 g = __ldg(reinterpret_cast<const float4*>(gamma) + i),
                 b = __ldg(reinterpret_cast<const float4*>(beta) + i);
    reinterpret_cast<float4*>(out)[q] = finished(v, m[0], s[0], g, b, dropout_bits(seed, q), drop, scale);
  };
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (kFull || k * kThreads + thread < vectors) store(k * kThreads + thread, held[k]);
#pragma unroll 4
  for (int k = 0; k < kShared; ++k)
    if (const int i = (kVectors + k) * kThreads + thread; kFull || i < vectors) store(i, more[k * kThreads + thread]);
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
  // 8 to 32 elements a thread in registers, of 1024 threads or more on a multiprocessor.
  auto held = [&](auto* kernel, int threads, int rows_of_block) {
    kernel<<<(rows + rows_of_block - 1) / rows_of_block, threads, 0, stream>>>(in, gamma, beta, out, mean, rstd, rows,
                                                                               cols, seed, drop, scale);
  };
  auto in_shared_too = [&](auto* kernel, int threads, int shared) {
    const int bytes = shared * threads * static_cast<int>(sizeof(float4));
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<rows, threads, bytes, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop, scale);
  };
  if (cols % 4 != 0 || cols > 32768) {
    layernorm_any<256><<<rows, 256, 0, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop, scale);
  } else if (cols <= 256) {
    held(layernorm_held<64, 1, 8>, 64, 8);
  } else if (cols <= 1024) {
    held(layernorm_held<256, 1, 8>, 256, 8);
  } else if (cols <= 2048) {
    held(layernorm_held<512, 1, 4>, 512, 4);
  } else if (cols <= 4096) {
    held(layernorm_held<512, 2, 1>, 512, 1);
  } else if (cols <= 8192) {
    held(layernorm_held<512, 4, 1>, 512, 1);
  } else if (cols == 16384) {
    in_shared_too(layernorm_long<512, 2, 6, true>, 512, 6);
  } else if (cols < 16384) {
    held(layernorm_held<512, 8, 1>, 512, 1);
  } else if (cols == 32768) {
    in_shared_too(layernorm_long<512, 4, 12, true>, 512, 12);  // two rows on an SM
  } else {
    in_shared_too(layernorm_long<512, 4, 12, false>, 512, 12);
  }
}
// END(layernorm)
