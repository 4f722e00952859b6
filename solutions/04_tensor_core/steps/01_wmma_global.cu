// replaces: wmma_gemm.cu; task: wmma_gemm; step: 1; idea: tensor cores, with fragments straight from global memory
#include <mma.h>

#include "tensor_core.hpp"

namespace wmma = nvcuda::wmma;

constexpr int kWarps = 8;

// a: m x k; b: n x k; c: m x n, all row-major. A warp computes a 16 x 16 tile of c. For each 16 of k it reads 2 x 16 x
// 16 bf16, 1 KiB, for 8192 operations: 8 for each byte, and all of it again from L1 or L2. Where a fragment would leave
// a matrix it is put together in the warp's patch.
__global__ void __launch_bounds__(kWarps * 32)
    wmma_gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(128) __nv_bfloat16 edges[kWarps][16 * 16];
  __shared__ __align__(128) float results[kWarps][16 * 16];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(blockIdx.y) * 16, col = (static_cast<int>(blockIdx.x) * kWarps + warp) * 16;
  if (col >= n) return;

  // 16 rows from `first` and 16 of k from l on.
  auto load = [&](auto& fragment, const __nv_bfloat16* matrix, int first, int rows, int l) {
    if (first + 16 <= rows && l + 16 <= k) {
      wmma::load_matrix_sync(fragment, matrix + static_cast<std::size_t>(first) * k + l, k);
      return;
    }
    const int r = lane / 2, h = lane % 2 * 8;  // a lane moves 8 of them
    uint4 v = make_uint4(0, 0, 0, 0);
    if (first + r < rows && l + h < k)
      v = *reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(first + r) * k + l + h);
    __syncwarp();
    *reinterpret_cast<uint4*>(edges[warp] + r * 16 + h) = v;
    __syncwarp();
    wmma::load_matrix_sync(fragment, edges[warp], 16);
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int l = 0; l < k; l += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> part_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> part_b;
    load(part_a, a, row, m, l);
    load(part_b, b, col, n, l);
    wmma::mma_sync(sum, part_a, part_b, sum);
  }
  wmma::store_matrix_sync(results[warp], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 128; i += 32) {
    const int r = row + i / 8, j = col + i % 8 * 2;
    const float2 v = *reinterpret_cast<const float2*>(results[warp] + i * 2);
    if (r < m && j < n)
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<std::size_t>(r) * n + j) = __floats2bfloat162_rn(v.x, v.y);
  }
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  const dim3 grid((n + 16 * kWarps - 1) / (16 * kWarps), (m + 15) / 16);
  wmma_gemm_kernel<<<grid, kWarps * 32, 0, stream>>>(a, b, c, m, n, k);
}
