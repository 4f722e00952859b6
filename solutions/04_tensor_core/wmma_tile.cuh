// The product of tasks `wmma_gemm` and `gemm_gelu`: tiles in shared memory, multiplied by nvcuda::wmma. What is done
// with an element before it is stored is a parameter.
#pragma once
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstddef>

namespace wmma_tile {

namespace wmma = nvcuda::wmma;

// A block computes a 128 x 128 tile of c. For each 64 of k it reads 2 x 128 x 64 bf16, 32 KiB, and computes 2 x 128 x
// 128 x 64 operations: 64 for each byte.
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64;
// A warp's part: 4 x 4 fragments, 128 registers of a lane. For 16 of k it reads (64 + 64) x 32 bytes of tiles, 4 KiB for
// 65536 multiplications; with 64 x 32 it would be 6 KiB for as many.
constexpr int kWarpM = 64, kWarpN = 64;
constexpr int kStages = 3;  // tiles in use or on their way; two blocks of them fit on a multiprocessor
constexpr int kWarpsN = kBlockN / kWarpN, kThreads = kBlockM / kWarpM * kWarpsN * 32;

// A row of a tile is 64 bf16 and 8 unused ones: 36 words = 4 mod 32. The 8 rows that a fragment's load reads at once
// begin at the banks 0, 4, 8, ..., 28, four words of each: all 32 banks once.
constexpr int kPitch = kBlockK + 8;
// A warp's patch for results, 16 x 64 floats. Its pitch of 72 = 8 mod 32 words does the same for stores of 8 bytes.
constexpr int kPatchPitch = kWarpN + 8;

constexpr int kStage = (kBlockM + kBlockN) * kPitch;  // elements
constexpr int kSharedBytes = kStages * kStage * 2;
static_assert(kThreads / 32 * 16 * kPatchPitch * 4 <= kSharedBytes, "the patches take the place of the tiles");

constexpr int kChunks = kBlockK / 8;  // 16 bytes each, in a row

// Begins the copy of kRows rows, 64 of k each: neighbouring lanes copy neighbouring chunks of a row. Zero outside of the
// matrix.
template <int kRows>
__device__ inline void load(const __nv_bfloat16* matrix, int first_row, int rows, int first_k, int k,
                            __nv_bfloat16* tile) {
#pragma unroll
  for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
    const int chunk = i * kThreads + static_cast<int>(threadIdx.x);
    const int row = first_row + chunk / kChunks, col = first_k + chunk % kChunks * 8;
    __nv_bfloat16* to = tile + chunk / kChunks * kPitch + chunk % kChunks * 8;
    if (row < rows && col < k)
      __pipeline_memcpy_async(to, matrix + static_cast<std::size_t>(row) * k + col, 16);
    else
      *reinterpret_cast<uint4*>(to) = make_uint4(0, 0, 0, 0);
  }
}

// a: m x k; b: n x k; c: m x n, all row-major. Each thread calls epilogue(column) once, for a
// function that turns the four accumulators at that column and the next three into results.
template <class Epilogue>
__device__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
                         Epilogue epilogue) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto* tiles = reinterpret_cast<__nv_bfloat16*>(memory);
  const int row0 = static_cast<int>(blockIdx.y) * kBlockM, col0 = static_cast<int>(blockIdx.x) * kBlockN;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / kWarpsN * kWarpM, warp_col = warp % kWarpsN * kWarpN;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kWarpM / 16][kWarpN / 16];
#pragma unroll
  for (auto& row : sum)
#pragma unroll
    for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);

  const int steps = (k + kBlockK - 1) / kBlockK;
  auto load_step = [&](int step) {
    __nv_bfloat16* tile = tiles + step % kStages * kStage;
    if (step < steps) {
      load<kBlockM>(a, row0, m, step * kBlockK, k, tile);
      load<kBlockN>(b, col0, n, step * kBlockK, k, tile + kBlockM * kPitch);
    }
    __pipeline_commit();  // an empty group where there is nothing to load: the count stays simple
  };
  for (int step = 0; step < kStages - 1; ++step) load_step(step);
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);  // this thread's part of tile `step` has arrived
    __syncthreads();                     // everybody's has; and nobody reads the last tile any more
    load_step(step + kStages - 1);       // into its place
    const __nv_bfloat16* tile_a = tiles + step % kStages * kStage;
    const __nv_bfloat16* tile_b = tile_a + kBlockM * kPitch;
#pragma unroll
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
  // takes 4 neighbouring floats and stores them as 8 bytes of bf16, 16 lanes a row of the patch.
  const int col = col0 + warp_col + lane % 16 * 4;
  const auto finish = epilogue(col < n ? col : 0);
  auto* patch = reinterpret_cast<float*>(memory) + warp * 16 * kPatchPitch;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      wmma::store_matrix_sync(patch + j * 16, sum[i][j], kPatchPitch, wmma::mem_row_major);
    __syncwarp();
#pragma unroll
    for (int r = lane / 16; r < 16; r += 2) {
      const int row = row0 + warp_row + i * 16 + r;
      if (row < m && col < n) {
        const float4 v = finish(*reinterpret_cast<const float4*>(patch + r * kPatchPitch + lane % 16 * 4));
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

// Launches a kernel that calls multiply().
template <class Kernel, class... Arguments>
void launch(Kernel* kernel, int m, int n, cudaStream_t stream, Arguments... arguments) {
  const dim3 grid((n + kBlockN - 1) / kBlockN, (m + kBlockM - 1) / kBlockM);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  kernel<<<grid, kThreads, kSharedBytes, stream>>>(arguments...);
}

}  // namespace wmma_tile
