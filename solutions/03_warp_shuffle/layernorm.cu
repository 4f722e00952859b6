// Lab 03, task `layernorm`: y = dropout((x - mean) * rstd * gamma + beta), and mean and rstd of each row.
//
// The kernel below lets one thread do a whole row and drops nothing. Give rows to blocks, sum with shuffles, and read
// every element once. Run: ./ridge check 03 --task layernorm
#include "warp_shuffle.hpp"

// TASK(layernorm)
#include <cuda_pipeline.h>
#ifndef RIDGE_SIMT
#include <cooperative_groups.h>
#endif

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
    const float4 g = reinterpret_cast<const float4*>(gamma)[i], b = reinterpret_cast<const float4*>(beta)[i];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= rows) continue;
      const auto q = static_cast<std::uint32_t>(first + r) * vectors + i;  // this vector in the whole tensor
      reinterpret_cast<float4*>(out)[q] = finished(held[r][k], m[r], s[r], g, b, dropout_bits(seed, q), drop, scale);
    }
  }
}

#ifndef RIDGE_SIMT  // the emulator has no clusters
// The next row that no cluster has taken. A call draws rows + clusters numbers, and the last one sets it to 0 again: no
// cudaMemsetAsync, which takes 1 us of a call of 130 us, but calls must not run side by side.
static __device__ unsigned next_row = 0;

// The same for long rows, cols at most 4 kThreads kVectors kBlocks. The blocks of a cluster (sm_90), each on a
// multiprocessor of its own, share every row: a thread has the same columns in all of them, so gamma and beta are read once,
// into registers. Rows come through a ring of kStages in shared memory, where a thread reads only what it has copied; a
// vector that has been stored makes room for one of a later row. Each warp writes the mean of its elements, and the sum of
// their squares from it, into the shared memory of all blocks, where they become the row's as in Chan, Golub and LeVeque
// (1979). While they are under way, the row before is finished: one barrier a row, and nobody waits at it for long.
// Which row is next is drawn from a counter: some multiprocessors get more of the memory's bandwidth than others, and with
// equal shares all would wait for the slowest.
template <int kThreads, int kVectors, int kBlocks, int kStages>
__global__ void __launch_bounds__(kThreads, 1)
    layernorm_cluster(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                      int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  constexpr int kWarps = kThreads / 32, kParts = kBlocks * kWarps, kPartsOfLane = (kParts + 31) / 32;
  constexpr int kKnown = kStages + 3;    // rows that are known ahead, and some that a slower block may still look at
  extern __shared__ float4 ring[];       // kStages x kVectors x kThreads
  __shared__ float2 moments[2][kParts];  // of each warp's elements: mean, squares from it; those of two rows
  __shared__ float elements[kParts];     // how many elements of a row each warp has
  __shared__ int row_of[kKnown];         // turn t works on row_of[t % kKnown]
  const auto cluster = cooperative_groups::this_cluster();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int rank = static_cast<int>(cluster.block_rank()), part = rank * kWarps + warp;
  const int clusters = static_cast<int>(gridDim.x) / kBlocks, id = static_cast<int>(blockIdx.x) / kBlocks;
  const int vectors = cols / 4, slice = (vectors + kBlocks - 1) / kBlocks, begin = rank * slice;
  const int own = max(0, min(slice, vectors - begin));  // vectors of a row, of this block

  auto load = [&](int row, int stage, int k) {
    const int i = k * kThreads + thread;
    const auto* from = reinterpret_cast<const float4*>(in) + static_cast<std::size_t>(row) * vectors + begin;
    if (i < own && row < rows)
      __pipeline_memcpy_async(ring + stage * kVectors * kThreads + i, from + i, sizeof(float4));
  };
  auto load_all = [&](int row, int stage) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) load(row, stage, k);
    __pipeline_commit();
  };

  // The first kStages rows of a cluster are not drawn. gamma and beta are wanted after the first of them.
  load_all(id, 0);
  float4 g[kVectors], b[kVectors];
  float has[1] = {0};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int i = k * kThreads + thread;
    has[0] += i < own ? 4 : 0;
    g[k] = i < own ? reinterpret_cast<const float4*>(gamma)[begin + i] : make_float4(0, 0, 0, 0);
    b[k] = i < own ? reinterpret_cast<const float4*>(beta)[begin + i] : make_float4(0, 0, 0, 0);
  }
#pragma unroll
  for (int stage = 1; stage < kStages; ++stage) load_all(id + stage * clusters, stage);
  if (thread < kStages) row_of[thread] = id + thread * clusters;
  const bool draws = rank == 0 && thread == 0;
  auto draw = [&] { return kStages * clusters + static_cast<int>(atomicInc(&next_row, rows + clusters - 1)); };
  int drawn = draws ? draw() : 0;
  const float n = warp_sums(has, lane), per = n > 0 ? 1 / n : 0;
  cluster.sync();  // all blocks run: their shared memory may be written
  if (lane < kBlocks) cluster.map_shared_rank(elements, lane)[part] = n;
  cluster.sync();

  float m = 0, s = 0;  // of the row before
  for (int turn = 0, stage = 0, before = 0;; ++turn) {
    const int row = row_of[turn % kKnown];
    if (row < rows) {
      __pipeline_wait_prior(kStages - 2);
      float4 x[kVectors];
      float sum[1] = {0}, squares[1] = {0};
#pragma unroll
      for (int k = 0; k < kVectors; ++k) {
        const int i = k * kThreads + thread;
        x[k] = i < own ? ring[stage * kVectors * kThreads + i] : make_float4(0, 0, 0, 0);
        sum[0] += sum_of(x[k]);
      }
      const float center = warp_sums(sum, lane) * per;
#pragma unroll
      for (int k = 0; k < kVectors; ++k)
        if (k * kThreads + thread < own) squares[0] += squares_of(x[k], center);
      const float2 moment = make_float2(center, warp_sums(squares, lane));
      if (lane < kBlocks) cluster.map_shared_rank(moments[turn % 2], lane)[part] = moment;
      if (draws) {
        for (int r = 0; r < kBlocks; ++r) cluster.map_shared_rank(row_of, r)[(turn + kStages) % kKnown] = drawn;
        drawn = draw();  // for the next turn: the answer takes a microsecond
      }
      cooperative_groups::cluster_group::barrier_arrive();
    }
    if (turn > 0) {  // finish the row before
      const int last = row_of[(turn - 1) % kKnown], next = row_of[(turn - 1 + kStages) % kKnown];
#pragma unroll
      for (int k = 0; k < kVectors; ++k) {
        const int i = k * kThreads + thread;
        if (i < own) {
          const auto q = static_cast<std::uint32_t>(last) * vectors + begin + i;
          reinterpret_cast<float4*>(out)[q] =
              finished(ring[before * kVectors * kThreads + i], m, s, g[k], b[k], dropout_bits(seed, q), drop, scale);
        }
        load(next, before, k);
      }
      __pipeline_commit();
    }
    if (row >= rows) break;
    cooperative_groups::cluster_group::barrier_wait();

    float all[1] = {0}, around[1] = {0};
#pragma unroll
    for (int p = 0; p < kPartsOfLane; ++p) {
      const int i = p * 32 + lane;
      if (i < kParts) all[0] += moments[turn % 2][i].x * elements[i];
    }
    m = warp_sums(all, lane) / static_cast<float>(cols);
#pragma unroll
    for (int p = 0; p < kPartsOfLane; ++p) {
      const int i = p * 32 + lane;
      if (i >= kParts) continue;
      const float2 moment = moments[turn % 2][i];
      around[0] += moment.y + elements[i] * (moment.x - m) * (moment.x - m);
    }
    s = rsqrtf(warp_sums(around, lane) / static_cast<float>(cols) + kEpsilon);
    if (draws) {
      mean[row] = m;
      rstd[row] = s;
    }
    before = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
#endif
}
#endif

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

#ifndef RIDGE_SIMT
static bool has_clusters() {
  int device = 0, yes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&yes, cudaDevAttrClusterLaunch, device);
  return yes != 0;
}

// As many clusters as run at the same time.
template <int kThreads, int kVectors, int kBlocks, int kStages>
static void by_clusters(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                        int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale, cudaStream_t stream) {
  auto* kernel = layernorm_cluster<kThreads, kVectors, kBlocks, kStages>;
  constexpr int bytes = kStages * kVectors * kThreads * 16;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {kBlocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = 1;
  int clusters = 0;
  cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  config.gridDim = static_cast<unsigned>(kBlocks * (rows < clusters ? rows : clusters));
  cudaLaunchKernelEx(&config, kernel, in, gamma, beta, out, mean, rstd, rows, cols, seed, drop, scale);
}
#endif

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
#ifndef RIDGE_SIMT
  } else if (has_clusters()) {
    by_clusters<512, 8, 2, 3>(in, gamma, beta, out, mean, rstd, rows, cols, seed, drop, scale, stream);
#endif
  } else {
    held(layernorm_held<1024, 8, 1>, 1024, 1);
  }
}
// END(layernorm)
