// Style: as the CUDA samples do: WMMA with macros for the tile, int4 copies to padded rows, two barriers a step.
#include <mma.h>

#include "tensor_core.hpp"

using namespace nvcuda;

#define TILE_M 128
#define TILE_N 128
#define TILE_K 64
#define SKEW_BF16 8
#define LD_TILE (TILE_K + SKEW_BF16)
#define WARPS_PER_BLOCK 4
#define THREADS_PER_BLOCK (32 * WARPS_PER_BLOCK)
#define LD_PATCH 72

namespace {

// matrix: rows x k; to: 128 x LD_TILE. Zeros beyond the ends.
__device__ void load_tile(__nv_bfloat16* to, const __nv_bfloat16* matrix, int row0, int rows, int k0, int k) {
  for (int i = threadIdx.x; i < TILE_M * TILE_K / 8; i += THREADS_PER_BLOCK) {
    const int r = i / (TILE_K / 8), p = i % (TILE_K / 8) * 8;
    int4 piece = make_int4(0, 0, 0, 0);
    if (row0 + r < rows && k0 + p < k) piece = *(const int4*)(matrix + (size_t)(row0 + r) * k + k0 + p);
    *(int4*)(to + r * LD_TILE + p) = piece;
  }
}

// a: m x k; b: n x k; c: m x n. A block has 128 x 128 of c, a warp 64 x 64.
__global__ void __launch_bounds__(THREADS_PER_BLOCK)
    wmma_two_barriers(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(32) __nv_bfloat16 tiles[(TILE_M + TILE_N) * LD_TILE];
  __nv_bfloat16* const tile_a = tiles;
  __nv_bfloat16* const tile_b = tiles + TILE_M * LD_TILE;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;
  const int warp_row = warp / 2 * 64, warp_col = warp % 2 * 64;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) wmma::fill_fragment(acc[i][j], 0.0f);

  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    load_tile(tile_a, a, row0, m, k0, k);
    load_tile(tile_b, b, col0, n, k0, k);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < TILE_K; p += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb[4];
      for (int i = 0; i < 4; i++) wmma::load_matrix_sync(fa[i], tile_a + (warp_row + 16 * i) * LD_TILE + p, LD_TILE);
      for (int j = 0; j < 4; j++) wmma::load_matrix_sync(fb[j], tile_b + (warp_col + 16 * j) * LD_TILE + p, LD_TILE);
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    __syncthreads();
  }

  // Each warp converts 16 rows at a time in a patch of its own, 4 neighbours a lane.
  float* const patch = (float*)tiles + warp * 16 * LD_PATCH;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) wmma::store_matrix_sync(patch + 16 * j, acc[i][j], LD_PATCH, wmma::mem_row_major);
    __syncwarp();
    for (int r = lane / 16; r < 16; r += 2) {
      const int q = lane % 16 * 4;
      const int row = row0 + warp_row + 16 * i + r, col = col0 + warp_col + q;
      const float4 v = *(const float4*)(patch + r * LD_PATCH + q);
      if (row < m && col < n) {
        const __nv_bfloat162 lo = __floats2bfloat162_rn(v.x, v.y), hi = __floats2bfloat162_rn(v.z, v.w);
        *(uint2*)(c + (size_t)row * n + col) = make_uint2(*(const unsigned*)&lo, *(const unsigned*)&hi);
      }
    }
    __syncwarp();
  }
}

}  // namespace

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, size_t,
               cudaStream_t stream) {
  const dim3 grid((n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
  wmma_two_barriers<<<grid, THREADS_PER_BLOCK, 0, stream>>>(a, b, c, m, n, k);
}

#undef TILE_M
#undef TILE_N
#undef TILE_K
#undef SKEW_BF16
#undef LD_TILE
#undef WARPS_PER_BLOCK
#undef THREADS_PER_BLOCK
#undef LD_PATCH
