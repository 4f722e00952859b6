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

static __device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

static __device__ float squares_of(float4 v, float m) {
  v = make_float4(v.x - m, v.y - m, v.z - m, v.w - m);
  return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
}

// Adds v, taken from c, and its squares.
static __device__ void add(float4 v, float c, float& sum, float& squares) {
  v = make_float4(v.x - c, v.y - c, v.z - c, v.w - c);
  sum += (v.x + v.y) + (v.z + v.w);
  squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
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
    const float4 g = reinterpret_cast<const float4*>(gamma)[i], b = reinterpret_cast<const float4*>(beta)[i];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= rows) continue;
      const auto q = static_cast<std::uint32_t>(first + r) * vectors + i;  // this vector in the whole tensor
      reinterpret_cast<float4*>(out)[q] = finished(held[r][k], m[r], s[r], g, b, dropout_bits(seed, q), drop, scale);
    }
  }
}

// The same for long rows, cols at most 4 kThreads kVectors. Two of them fill a multiprocessor: one lies in registers, one
// in shared memory, where a thread reads what it has written only. gamma and beta, as long as the rows, come from L2 once
// for both. As soon as a thread has stored a vector it loads the one of the next pair into its place; the first kAhead of the
// row in registers have a place in shared memory of their own and come earlier. Nothing is in flight between the last
// load's arrival and the first store, so that time is kept short: a vector is summed as it arrives, its squares too, taken
// from the thread's first element (from 0 they would lose digits where the mean is large), and what is left to do then are
// two sums over the block. The squares from there become squares from the mean as in Chan, Golub and LeVeque (1979).
template <int kThreads, int kVectors, int kAhead>
__global__ void __launch_bounds__(kThreads, 1)
    layernorm_pairs(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                    int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32 * 2];
  extern __shared__ float4 other[];             // kVectors x kThreads
  float4* ahead = other + kVectors * kThreads;  // kAhead x kThreads
  const int thread = static_cast<int>(threadIdx.x), vectors = cols / 4, blocks = static_cast<int>(gridDim.x);
  const auto* from = reinterpret_cast<const float4*>(in);
  auto* to = reinterpret_cast<float4*>(out);
  float4 held[kVectors];
  auto load_ahead = [&](int row) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int i = k * kThreads + thread;
      if (i < vectors && row < rows)
        __pipeline_memcpy_async(ahead + i, from + static_cast<std::size_t>(row) * vectors + i, sizeof(float4));
    }
    __pipeline_commit();
  };
  auto load = [&](int row, int k) {  // vector k of `row` and of its partner
    const int i = k * kThreads + thread;
    const std::size_t at = static_cast<std::size_t>(row) * vectors + i;
    if (k >= kAhead) held[k] = i < vectors && row < rows ? from[at] : make_float4(0, 0, 0, 0);
    if (i < vectors && row + blocks < rows)
      __pipeline_memcpy_async(other + i, from + at + static_cast<std::size_t>(blocks) * vectors, sizeof(float4));
    __pipeline_commit();
  };
  int row = static_cast<int>(blockIdx.x);
  load_ahead(row);
#pragma unroll
  for (int j = 0; j < kVectors; ++j) load(row, (j + kAhead) % kVectors);
  const float n = static_cast<float>(4 * ((max(vectors - thread, 0) + kThreads - 1) / kThreads));  // of this thread
  const float per = n > 0 ? 1 / n : 0;

  for (; row < rows; row += 2 * blocks) {
    const bool both = row + blocks < rows;
    float first[2] = {0, 0}, m[2] = {0, 0}, s[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int k = (j + kAhead) % kVectors;  // in the order in which they were asked for
      const int i = k * kThreads + thread;
      __pipeline_wait_prior(kVectors - 1 - j);
      if (k < kAhead) held[k] = i < vectors ? ahead[i] : make_float4(0, 0, 0, 0);
      if (i >= vectors) continue;
      const bool none_before = j == 0 || (k == 0 && kAhead * kThreads + thread >= vectors);
      if (none_before) first[0] = held[k].x;
      add(held[k], first[0], m[0], s[0]);
      if (both) {
        const float4 v = other[i];
        if (none_before) first[1] = v.x;
        add(v, first[1], m[1], s[1]);
      }
    }
    load_ahead(row + 2 * blocks);
    float own[2];  // the mean of this thread's elements
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      own[r] = first[r] + m[r] * per;
      s[r] -= m[r] * m[r] * per;
      m[r] += n * first[r];
    }
    block_sums<kThreads>(m, of_warp[0]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      m[r] /= static_cast<float>(cols);
      s[r] += n * (own[r] - m[r]) * (own[r] - m[r]);
    }
    block_sums<kThreads>(s, of_warp[1]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      s[r] = rsqrtf(s[r] / static_cast<float>(cols) + kEpsilon);
      if (thread == r && row + r * blocks < rows) {
        mean[row + r * blocks] = m[r];
        rstd[row + r * blocks] = s[r];
      }
    }
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int k = (j + kAhead) % kVectors;  // first those whose place is filled again right away
      const int i = k * kThreads + thread;
      if (i < vectors) {
        const float4 g = reinterpret_cast<const float4*>(gamma)[i], b = reinterpret_cast<const float4*>(beta)[i];
        const auto q = static_cast<std::uint32_t>(row) * vectors + i, q2 = q + blocks * vectors;
        to[q] = finished(held[k], m[0], s[0], g, b, dropout_bits(seed, q), drop, scale);
        if (both) to[q2] = finished(other[i], m[1], s[1], g, b, dropout_bits(seed, q2), drop, scale);
      }
      load(row + 2 * blocks, k);
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
  // 8 to 32 elements a thread in registers, of 1024 threads or more on a multiprocessor.
  auto held = [&](auto* kernel, int threads, int rows_of_block) {
    kernel<<<(rows + rows_of_block - 1) / rows_of_block, threads, 0, stream>>>(in, gamma, beta, out, mean, rstd, rows,
                                                                               cols, seed, drop, scale);
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
  } else if (cols <= 16384) {
    held(layernorm_held<512, 8, 1>, 512, 1);
  } else {
    constexpr int threads = 1024, vectors = 8, ahead = 4, bytes = threads * (vectors + ahead) * 16;
    int device = 0, sms = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    auto* kernel = layernorm_pairs<threads, vectors, ahead>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const int pairs = (rows + 1) / 2, grid = pairs < sms ? pairs : sms;
    kernel<<<grid, threads, bytes, stream>>>(in, gamma, beta, out, mean, rstd, rows, cols, seed, drop, scale);
  }
}
// END(layernorm)
