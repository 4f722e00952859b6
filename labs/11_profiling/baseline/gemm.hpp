// The product of task `autotune` in fp32: a kernel for each configuration of search.hpp. On a GPU the judge times it.
#pragma once
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "search.hpp"

// a: (m, k); b: (k, n); c: (m, n), row-major. A block a tile of c. Shared memory: for each stage a strip of a,
// (kTileK, kTileM), transposed, and one of b, (kTileK, kTileN). kBlocks of them fit into the registers of an SM.
template <int kTileM, int kTileN, int kTileK, int kThreadM, int kThreadN, int kStages, int kBlocks>
__global__ void __launch_bounds__(kTileM / kThreadM * (kTileN / kThreadN), kBlocks)
    gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kAcross = kTileN / kThreadN, kThreads = kTileM / kThreadM * kAcross;
  extern __shared__ float4 shared[];  // float4: aligned to 16 bytes
  float* const strips = reinterpret_cast<float*>(shared);
  const auto strips_of = [&](int step) { return strips + step % kStages * (kTileM + kTileN) * kTileK; };
  const int thread = threadIdx.x, row = blockIdx.y * kTileM, col = blockIdx.x * kTileN;
  // Element (i, r) of a's strip lies in column r ^ moved(i): eight i of four rows lie in 32 banks, and four neighbouring
  // rows remain a float4.
  const auto moved = [](int i) { return i % 8 * 4; };
  const auto copy = [](float* to, const float* from, bool inside) {
    __pipeline_memcpy_async(to, from, sizeof(float), inside ? 0 : sizeof(float));  // zeros outside
  };
  const auto load = [&](int step) {
    float *const of_a = strips_of(step), *const of_b = of_a + kTileK * kTileM;
    const int first = step * kTileK;
#pragma unroll 2
    for (int part = 0; part < kTileM * kTileK / kThreads; ++part) {  // eight lanes take a sector of a row
      const int at = part * kThreads + thread, i = at / (8 * kTileM) * 8 + at % 8, r = at / 8 % kTileM;
      const bool inside = row + r < m && first + i < k;
      const float* const from = inside ? a + static_cast<long long>(row + r) * k + first + i : a;
      copy(&of_a[i * kTileM + (r ^ moved(i))], from, inside);
    }
#pragma unroll 2
    for (int part = 0; part < kTileN * kTileK / kThreads; ++part) {
      const int at = part * kThreads + thread, i = at / kTileN, j = at % kTileN;
      const bool inside = first + i < k && col + j < n;
      copy(&of_b[at], inside ? b + static_cast<long long>(first + i) * n + col + j : b, inside);
    }
  };

  // A thread's elements are 4 x 4, or four parts of 4 x 4 that lie half a tile apart: neighbouring lanes read
  // neighbouring float4.
  float sum[kThreadM][kThreadN] = {};
  const int down = thread / kAcross * 4, right = thread % kAcross * 4;
  const auto multiply = [&](int step) {
    const float *const of_a = strips_of(step), *const of_b = of_a + kTileK * kTileM;
#pragma unroll 8
    for (int i = 0; i < kTileK; ++i) {
      float x[kThreadM], y[kThreadN];
#pragma unroll
      for (int p = 0; p < kThreadM; p += 4) {
        const int r = p * (kTileM / 8) + down;
        const float4 v = *reinterpret_cast<const float4*>(&of_a[i * kTileM + (r ^ moved(i))]);
        x[p] = v.x, x[p + 1] = v.y, x[p + 2] = v.z, x[p + 3] = v.w;
      }
#pragma unroll
      for (int q = 0; q < kThreadN; q += 4) {
        const float4 v = *reinterpret_cast<const float4*>(&of_b[i * kTileN + q * (kTileN / 8) + right]);
        y[q] = v.x, y[q + 1] = v.y, y[q + 2] = v.z, y[q + 3] = v.w;
      }
#pragma unroll
      for (int p = 0; p < kThreadM; ++p)
#pragma unroll
        for (int q = 0; q < kThreadN; ++q) sum[p][q] += x[p] * y[q];
    }
  };

  const int steps = (k + kTileK - 1) / kTileK;
  if constexpr (kStages == 1) {
    for (int step = 0; step < steps; ++step) {
      load(step);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
      multiply(step);
      __syncthreads();
    }
  } else {
    for (int step = 0; step < kStages - 1; ++step) {
      if (step < steps) load(step);
      __pipeline_commit();
    }
    for (int step = 0; step < steps; ++step) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();  // this step's strips are there, and nobody reads the last one's any more
      if (step + kStages - 1 < steps) load(step + kStages - 1);
      __pipeline_commit();
      multiply(step);
    }
  }

#pragma unroll
  for (int p = 0; p < kThreadM; ++p)
#pragma unroll
    for (int q = 0; q < kThreadN; ++q) {
      const int i = row + p / 4 * (kTileM / 2) + down + p % 4, j = col + q / 4 * (kTileN / 2) + right + q % 4;
      if (i < m && j < n) c[static_cast<long long>(i) * n + j] = sum[p][q];
    }
}

// Blocks for whose registers an SM has room: a scheduler has 16384, and a warp takes a multiple of 256. 0: too many.
constexpr int blocks_by_registers(const Config& t) {
  const int of_warp = (32 * registers_of(t) + 255) / 256 * 256;
  const int blocks = 16384 / of_warp * 4 / ((threads_of(t) + 31) / 32);
  return blocks < 32 ? blocks : 32;
}

// Enqueues configuration kConfig. False where it cannot run.
template <int kConfig>
bool gemm(const float* a, const float* b, float* c, const Shape& s, cudaStream_t stream) {
  constexpr Config t = config_of(kConfig);
  constexpr int threads = threads_of(t), bytes = shared_of(t), blocks = blocks_by_registers(t);
  if constexpr (threads < 32 || threads > 1024 || bytes > 232448 || blocks == 0) {
    return false;
  } else {
    const auto kernel = gemm_kernel<t.tile_m, t.tile_n, t.tile_k, t.thread_m, t.thread_n, t.stages, blocks>;
    static const cudaError_t allowed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (allowed != cudaSuccess) return false;
    const dim3 tiles((s.n + t.tile_n - 1) / t.tile_n, (s.m + t.tile_m - 1) / t.tile_m);
    kernel<<<tiles, threads, bytes, stream>>>(a, b, c, s.m, s.n, s.k);
    return true;
  }
}

// One of the configurations kFirst to kFirst + 15, which have the same tile. They are compiled apart, for they take long.
template <int kFirst, int kAt = 0>
bool gemm_of_tile(int config, const float* a, const float* b, float* c, const Shape& s, cudaStream_t stream) {
  if (config == kFirst + kAt) return gemm<kFirst + kAt>(a, b, c, s, stream);
  if constexpr (kAt < 15) return gemm_of_tile<kFirst, kAt + 1>(config, a, b, c, s, stream);
  return false;
}
