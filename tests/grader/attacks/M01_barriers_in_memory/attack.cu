#include "tiling.hpp"

#include <cuda/barrier>

#include <cuda_pipeline.h>

constexpr int kTile = 128, kStep = 8, kEach = 8, kThreads = 256;
constexpr int kWarpM = 32, kWarpN = 64, kLanesM = 4, kLanesN = 8;

// Begins to copy the strip of A from column p0 on, transposed, and the strip of B from row p0 on: 4 floats each a
// thread. 0 where there is nothing. Vector 4: n is a multiple of 4. cp.async copies 4 bytes anywhere, so it transposes
// as well.
template <int kVector>
__device__ void load(float (*tile_a)[kTile + 4], float (*tile_b)[kTile], const float* a, const float* b, int row0,
                     int col0, int p0, int m, int n, int k) {
  const int thread = static_cast<int>(threadIdx.x), p = thread % kStep;
#pragma unroll
  for (int r = thread / kStep; r < kTile; r += kThreads / kStep)
    if (row0 + r < m && p0 + p < k)
      __pipeline_memcpy_async(&tile_a[p][r], a + static_cast<std::size_t>(row0 + r) * k + p0 + p, sizeof(float));
    else
      tile_a[p][r] = 0;
#pragma unroll
  for (int e = thread * kVector; e < kStep * kTile; e += kThreads * kVector) {
    const int q = e / kTile, j = e % kTile;
    if (p0 + q < k && col0 + j < n)
      __pipeline_memcpy_async(&tile_b[q][j], b + static_cast<std::size_t>(p0 + q) * n + col0 + j,
                              kVector * sizeof(float));
    else if (kVector == 4)
      *reinterpret_cast<float4*>(&tile_b[q][j]) = make_float4(0, 0, 0, 0);
    else
      tile_b[q][j] = 0;
  }
  __pipeline_commit();
}

// a: m x k, b: k x n, c: m x n, row-major. A warp reads 32 + 64 floats for a step of p, where two rows of 16 lanes read
// 16 + 128. More is gained by which lanes are neighbours: 0 and 1 read the same part of B, 0 and 2 the same part of A.
// Such pairs are served together, and a read of 16 bytes a lane takes two wavefronts, not four.
template <int kVector>
__global__ void __launch_bounds__(kThreads)
    sgemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float tile_a[2][kStep][kTile + 4], tile_b[2][kStep][kTile];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int x = warp / (kTile / kWarpM) * kWarpN + lane / 2 % 8 * 4;
  const int y = warp % (kTile / kWarpM) * kWarpM + (lane % 2 + lane / 16 * 2) * 4;
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, kThreads);
  __syncthreads();
  float sum[kEach][kEach] = {};
  load<kVector>(tile_a[0], tile_b[0], a, b, row0, col0, 0, m, n, k);
  for (int p0 = 0, now = 0; p0 < k; p0 += kStep, now ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (p0 + kStep < k) load<kVector>(tile_a[now ^ 1], tile_b[now ^ 1], a, b, row0, col0, p0 + kStep, m, n, k);
#pragma unroll
    for (int p = 0; p < kStep; ++p) {
      all.arrive_and_wait();
      float4 part_a[2], part_b[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        part_a[h] = *reinterpret_cast<const float4*>(&tile_a[now][p][y + h * 4 * kLanesM]);
        part_b[h] = *reinterpret_cast<const float4*>(&tile_b[now][p][x + h * 4 * kLanesN]);
      }
      const float left[kEach] = {part_a[0].x, part_a[0].y, part_a[0].z, part_a[0].w,
                                 part_a[1].x, part_a[1].y, part_a[1].z, part_a[1].w};
      const float right[kEach] = {part_b[0].x, part_b[0].y, part_b[0].z, part_b[0].w,
                                  part_b[1].x, part_b[1].y, part_b[1].z, part_b[1].w};
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] += left[i] * right[j];
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; j += 4) {
      const int row = row0 + y + i / 4 * 4 * kLanesM + i % 4, col = col0 + x + j * kLanesN;
      if (row >= m || col >= n) continue;
      float* to = c + static_cast<std::size_t>(row) * n + col;
      if (kVector == 4) {
        *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (col + v < n) to[v] = sum[i][j + v];
      }
    }
}

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (n % 4 == 0)
    sgemm_kernel<4><<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
  else
    sgemm_kernel<1><<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
}
