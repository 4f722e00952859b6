// replaces: wmma_gemm.cu; task: wmma_gemm; step: 3; idea: rows padded by 16 bytes: no bank conflicts
#include <mma.h>

#include "tensor_core.hpp"

namespace wmma = nvcuda::wmma;

constexpr int kBlock = 128, kDepth = 64;  // of c, and of k
constexpr int kPitch = kDepth + 8;        // 36 words = 4 mod 32: 8 rows of a fragment use all 32 banks once
constexpr int kWarpM = 64, kWarpN = 32, kThreads = 256;

// a: m x k; b: n x k; c: m x n, all row-major. A block computes a 128 x 128 tile of c, each of its 8 warps 64 x 32.
__global__ void __launch_bounds__(kThreads)
    wmma_gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(128) __nv_bfloat16 tile_a[kBlock * kPitch], tile_b[kBlock * kPitch];
  __shared__ __align__(128) float patches[kThreads / 32][16 * 16];
  const int row0 = static_cast<int>(blockIdx.y) * kBlock, col0 = static_cast<int>(blockIdx.x) * kBlock;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int warp_row = warp / 4 * kWarpM, warp_col = warp % 4 * kWarpN;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kWarpM / 16][kWarpN / 16];
  for (auto& row : sum)
    for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);

  // 16 bytes of a tile: row r, from column l on. Zero outside of the matrix.
  auto load = [&](__nv_bfloat16* tile, const __nv_bfloat16* matrix, int first, int rows, int k0, int r, int l) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (first + r < rows && k0 + l < k)
      v = *reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(first + r) * k + k0 + l);
    *reinterpret_cast<uint4*>(tile + r * kPitch + l) = v;
  };
  for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
    for (int i = thread; i < kBlock * kDepth / 8; i += kThreads) {
      load(tile_a, a, row0, m, k0, i / 8, i % 8 * 8);
      load(tile_b, b, col0, n, k0, i / 8, i % 8 * 8);
    }
    __syncthreads();
    for (int l = 0; l < kDepth; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> part_a[kWarpM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> part_b[kWarpN / 16];
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
        wmma::load_matrix_sync(part_a[i], tile_a + (warp_row + i * 16) * kPitch + l, kPitch);
#pragma unroll
      for (int j = 0; j < kWarpN / 16; ++j)
        wmma::load_matrix_sync(part_b[j], tile_b + (warp_col + j * 16) * kPitch + l, kPitch);
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
        for (int j = 0; j < kWarpN / 16; ++j) wmma::mma_sync(sum[i][j], part_a[i], part_b[j], sum[i][j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j) {
      wmma::store_matrix_sync(patches[warp], sum[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 128; e += 32) {
        const int row = row0 + warp_row + i * 16 + e / 8, col = col0 + warp_col + j * 16 + e % 8 * 2;
        const float2 v = *reinterpret_cast<const float2*>(patches[warp] + e * 2);
        if (row < m && col < n)
          *reinterpret_cast<__nv_bfloat162*>(c + static_cast<std::size_t>(row) * n + col) =
              __floats2bfloat162_rn(v.x, v.y);
      }
      __syncwarp();
    }
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  const dim3 grid((n + kBlock - 1) / kBlock, (m + kBlock - 1) / kBlock);
  wmma_gemm_kernel<<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
}
