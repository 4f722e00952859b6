// replaces: gemm.cu; task: gemm; step: 6; idea: mma.sync and ldmatrix, on swizzled tiles; needs: sm_80
#include "ptx.hpp"
#include "tensor_core.hpp"

constexpr int kBlock = 128, kDepth = 64;  // of c, and of k
constexpr int kWarpM = 64, kWarpN = 32, kThreads = 256;

// Where the 16 bytes at column l of row r lie in a tile with rows of 128 bytes. ldmatrix reads 8 rows at the same
// column: the exclusive or puts them into 8 different groups of 4 banks, without padding.
__device__ int place(int r, int l) { return r * kDepth + (l / 8 ^ r % 8) * 8; }

// Two fragments of 8 rows and 16 of k: r[0] and r[2] are the first one's halves, r[1] and r[3] the second one's.
__device__ void load_fragment(uint32_t (&r)[4], const __nv_bfloat16* tile, int row, int l) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ptx::load_matrices(r, ptx::address(tile + place(row + lane % 16, l + lane / 16 * 8)));
}

// a: m x k; b: n x k; c: m x n, all row-major. A block computes a 128 x 128 tile of c, each of its 8 warps 64 x 32. The
// layout of the sums is documented: they go from registers to c without a patch.
__global__ void __launch_bounds__(kThreads, 2)
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(128) __nv_bfloat16 tile_a[kBlock * kDepth], tile_b[kBlock * kDepth];
  const int row0 = static_cast<int>(blockIdx.y) * kBlock, col0 = static_cast<int>(blockIdx.x) * kBlock;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int warp_row = warp / 4 * kWarpM, warp_col = warp % 4 * kWarpN;

  auto load = [&](__nv_bfloat16* tile, const __nv_bfloat16* matrix, int first, int rows, int k0, int r, int l) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (first + r < rows && k0 + l < k)
      v = *reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(first + r) * k + k0 + l);
    *reinterpret_cast<uint4*>(tile + place(r, l)) = v;
  };
  float sum[kWarpM / 16][kWarpN / 8][4] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
    for (int i = thread; i < kBlock * kDepth / 8; i += kThreads) {
      load(tile_a, a, row0, m, k0, i / 8, i % 8 * 8);
      load(tile_b, b, col0, n, k0, i / 8, i % 8 * 8);
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kDepth; l += 16) {
      uint32_t part_a[kWarpM / 16][4], part_b[kWarpN / 16][4];
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i) load_fragment(part_a[i], tile_a, warp_row + i * 16, l);
#pragma unroll
      for (int j = 0; j < kWarpN / 16; ++j) load_fragment(part_b[j], tile_b, warp_col + j * 16, l);
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
        for (int j = 0; j < kWarpN / 8; ++j)
          ptx::mma(sum[i][j], part_a[i], part_b[j / 2][j % 2], part_b[j / 2][j % 2 + 2]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = row0 + warp_row + i * 16 + h * 8 + lane / 4, col = col0 + warp_col + j * 8 + lane % 4 * 2;
        if (row < m && col < n)
          *reinterpret_cast<uint32_t*>(c + static_cast<std::size_t>(row) * n + col) =
              ptx::pack(sum[i][j][h * 2], sum[i][j][h * 2 + 1]);
      }
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, std::size_t,
          cudaStream_t stream) {
  const dim3 grid((n + kBlock - 1) / kBlock, (m + kBlock - 1) / kBlock);
  gemm_kernel<<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
}
