// replaces: wmma_gemm.cu; fails: wmma_gemm/loads; backend: cpu
// Blocks of 32 x 32: each of them reads its rows of a and b again, four times as much as 128 x 128 would.
#include <mma.h>

#include "tensor_core.hpp"

namespace wmma = nvcuda::wmma;

constexpr int kTile = 32, kDepth = 64, kPitch = kDepth + 8, kWarps = kTile / 16;

__device__ uint4 chunk(const __nv_bfloat16* matrix, int row, int rows, int col, int cols) {
  if (row >= rows || col >= cols) return make_uint4(0, 0, 0, 0);
  return *reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(row) * cols + col);
}

// A warp computes 16 rows of the block's tile.
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(128) __nv_bfloat16 tile_a[kTile * kPitch], tile_b[kTile * kPitch];
  __shared__ __align__(128) float patches[kWarps][16 * 24];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kTile / 16];
  for (auto& s : sum) wmma::fill_fragment(s, 0.0f);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kWarps * 32) {
      const int r = i / (kDepth / 8), l = i % (kDepth / 8) * 8;
      *reinterpret_cast<uint4*>(tile_a + r * kPitch + l) = chunk(a, row0 + r, m, k0 + l, k);
      *reinterpret_cast<uint4*>(tile_b + r * kPitch + l) = chunk(b, col0 + r, n, k0 + l, k);
    }
    __syncthreads();
    for (int l = 0; l < kDepth; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> part_a;
      wmma::load_matrix_sync(part_a, tile_a + warp * 16 * kPitch + l, kPitch);
      for (int j = 0; j < kTile / 16; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> part_b;
        wmma::load_matrix_sync(part_b, tile_b + j * 16 * kPitch + l, kPitch);
        wmma::mma_sync(sum[j], part_a, part_b, sum[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < kTile / 16; ++j) {
    wmma::store_matrix_sync(patches[warp], sum[j], 24, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 128; i += 32) {
      const int r = i / 8, row = row0 + warp * 16 + r, col = col0 + j * 16 + i % 8 * 2;
      const float x = patches[warp][r * 24 + i % 8 * 2], y = patches[warp][r * 24 + i % 8 * 2 + 1];
      if (row < m && col < n)
        *reinterpret_cast<__nv_bfloat162*>(c + static_cast<std::size_t>(row) * n + col) = __floats2bfloat162_rn(x, y);
    }
    __syncwarp();
  }
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  product<<<grid, kWarps * 32, 0, stream>>>(a, b, c, m, n, k);
}
