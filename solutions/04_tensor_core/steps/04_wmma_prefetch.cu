// replaces: wmma_gemm.cu; task: wmma_gemm; step: 4; idea: the next tile waits in registers while this one is multiplied
#include <mma.h>

#include "tensor_core.hpp"

namespace wmma_tile {

namespace wmma = nvcuda::wmma;

// A block computes a 128 x 128 tile of c. For each 64 of k it reads 2 x 128 x 64 bf16, 32 KiB, and computes 2 x 128 x
// 128 x 64 operations: 64 for each byte.
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64;
constexpr int kWarpM = 64, kWarpN = 32;  // a warp's part: 4 x 2 fragments, 64 registers of a lane
constexpr int kWarpsN = kBlockN / kWarpN, kThreads = kBlockM / kWarpM * kWarpsN * 32;

// A row of a tile is 64 bf16 and 8 unused ones: 36 words = 4 mod 32. The 8 rows that a fragment's load reads at once
// begin at the banks 0, 4, 8, ..., 28, four words of each: all 32 banks once.
constexpr int kPitch = kBlockK + 8;
// A warp's patch for results, 16 x 32 floats. Its pitch of 40 = 8 mod 32 words does the same for stores of 8 bytes.
constexpr int kPatchPitch = 40;

constexpr int kTileBytes = (kBlockM + kBlockN) * kPitch * 2;
static_assert(kThreads / 32 * 16 * kPatchPitch * 4 <= kTileBytes, "the patches take the place of the tiles");

constexpr int kChunks = kBlockK / 8;                    // 16 bytes each, in a row
constexpr int kChunksA = kBlockM * kChunks / kThreads;  // of a thread
constexpr int kChunksB = kBlockN * kChunks / kThreads;

// Chunk `i` of this thread: neighbouring lanes read neighbouring chunks of a row. Zero outside of the matrix.
__device__ inline uint4 load_chunk(const __nv_bfloat16* matrix, int first_row, int rows, int first_k, int k, int i) {
  const int chunk = i * kThreads + static_cast<int>(threadIdx.x);
  const int row = first_row + chunk / kChunks, col = first_k + chunk % kChunks * 8;
  if (row >= rows || col >= k) return make_uint4(0, 0, 0, 0);
  return *reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(row) * k + col);
}

__device__ inline void store_chunk(__nv_bfloat16* tile, int i, uint4 v) {
  const int chunk = i * kThreads + static_cast<int>(threadIdx.x);
  *reinterpret_cast<uint4*>(tile + chunk / kChunks * kPitch + chunk % kChunks * 8) = v;
}

// a: m x k; b: n x k; c: m x n, all row-major. epilogue(column) is asked once by each thread
// for a function that turns four sums at that column and the next three into what is stored.
template <class Epilogue>
__device__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
                         Epilogue epilogue) {
  __shared__ __align__(128) unsigned char memory[kTileBytes];
  auto* tile_a = reinterpret_cast<__nv_bfloat16*>(memory);
  auto* tile_b = tile_a + kBlockM * kPitch;
  const int row0 = static_cast<int>(blockIdx.y) * kBlockM, col0 = static_cast<int>(blockIdx.x) * kBlockN;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / kWarpsN * kWarpM, warp_col = warp % kWarpsN * kWarpN;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kWarpM / 16][kWarpN / 16];
#pragma unroll
  for (auto& row : sum)
#pragma unroll
    for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);

  uint4 next_a[kChunksA], next_b[kChunksB];  // the next tile is on its way while this one is multiplied
#pragma unroll
  for (int i = 0; i < kChunksA; ++i) next_a[i] = load_chunk(a, row0, m, 0, k, i);
#pragma unroll
  for (int i = 0; i < kChunksB; ++i) next_b[i] = load_chunk(b, col0, n, 0, k, i);

  for (int k0 = 0; k0 < k; k0 += kBlockK) {
    if (k0 > 0) __syncthreads();  // all have read the last tile
#pragma unroll
    for (int i = 0; i < kChunksA; ++i) store_chunk(tile_a, i, next_a[i]);
#pragma unroll
    for (int i = 0; i < kChunksB; ++i) store_chunk(tile_b, i, next_b[i]);
    __syncthreads();
    if (k0 + kBlockK < k) {
#pragma unroll
      for (int i = 0; i < kChunksA; ++i) next_a[i] = load_chunk(a, row0, m, k0 + kBlockK, k, i);
#pragma unroll
      for (int i = 0; i < kChunksB; ++i) next_b[i] = load_chunk(b, col0, n, k0 + kBlockK, k, i);
    }
#pragma unroll 1  // registers: two blocks on a multiprocessor leave 128 to a thread
    for (int l = 0; l < kBlockK; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> part_a[kWarpM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> part_b[kWarpN / 16];  // b^T
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
  }
  __syncthreads();  // the tiles' memory is free

  // Which element lies in which lane of a fragment is not documented: results pass through the warp's own patch. A lane
  // takes 4 neighbouring floats and stores them as 8 bytes of bf16, 8 lanes two whole sectors.
  const int col = col0 + warp_col + lane % 8 * 4;
  const auto finish = epilogue(col < n ? col : 0);
  auto* patch = reinterpret_cast<float*>(memory) + warp * 16 * kPatchPitch;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      wmma::store_matrix_sync(patch + j * 16, sum[i][j], kPatchPitch, wmma::mem_row_major);
    __syncwarp();
#pragma unroll
    for (int r = lane / 8; r < 16; r += 4) {
      const int row = row0 + warp_row + i * 16 + r;
      if (row < m && col < n) {
        const float4 v = finish(*reinterpret_cast<const float4*>(patch + r * kPatchPitch + lane % 8 * 4));
        union {
          __nv_bfloat162 pair[2];
          uint2 bits;
        } out;
        out.pair[0] = __floats2bfloat162_rn(v.x, v.y);
        out.pair[1] = __floats2bfloat162_rn(v.z, v.w);
        *reinterpret_cast<uint2*>(c + static_cast<std::size_t>(row) * n + col) = out.bits;
      }
    }
    __syncwarp();
  }
}

inline dim3 grid(int m, int n) { return dim3((n + kBlockN - 1) / kBlockN, (m + kBlockM - 1) / kBlockM); }

}  // namespace wmma_tile

// a: m x k; b: n x k; c: m x n, all row-major. A block computes a 128 x 128 tile of c.
__global__ void __launch_bounds__(wmma_tile::kThreads, 2)
    wmma_gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  wmma_tile::multiply(a, b, c, m, n, k, [](int) { return [](float4 sums) { return sums; }; });
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  wmma_gemm_kernel<<<wmma_tile::grid(m, n), wmma_tile::kThreads, 0, stream>>>(a, b, c, m, n, k);
}
