// Lab 04, task `wgmma_gemm`: c = a b^T with TMA and wgmma, one buffer.
//
// The barrier, the maps and the stores are there, and the loop over k is missing. It needs sm_90a or the emulator.
// Run: ./ridge check 04 --task wgmma_gemm
#include "ptx.hpp"
#include "tensor_core.hpp"

// TASK(wgmma_gemm)
namespace {

constexpr int kBlock = 128, kDepth = 64;  // a tile of c is kBlock x kBlock; a step takes kDepth of k
constexpr int kThreads = 256;             // two warpgroups of 64 rows
constexpr int kStageBytes = 2 * kBlock * kDepth * 2;

// A warpgroup's 64 rows of sums, from registers to c: a lane has two neighbours in a row.
template <int count>
__device__ void store(const float (&sum)[count], __nv_bfloat16* c, int m, int n, int row, int col) {
  row += static_cast<int>(threadIdx.x) % 128 / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
  col += static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < count; i += 2) {
    const int r = row + i % 4 / 2 * 8, j = col + i / 4 * 8;
    if (r < m && j < n)
      *reinterpret_cast<uint32_t*>(c + static_cast<std::size_t>(r) * n + j) = ptx::pack(sum[i], sum[i + 1]);
  }
}

// a: m x k; b: n x k; c: m x n, as maps or row-major. A block computes a 128 x 128 tile of c. One thread asks for a
// tile of a and of b, all wait for the bytes, and wgmma reads both from shared memory: no thread carries an operand.
__global__ void __launch_bounds__(kThreads)
    gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c,
                int m, int n, int k) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ __align__(1024) __nv_bfloat16 tile_a[kBlock * kDepth], tile_b[kBlock * kDepth];
  __shared__ uint64_t full;
  const int row = static_cast<int>(blockIdx.y) * kBlock, col = static_cast<int>(blockIdx.x) * kBlock;
  const int own = static_cast<int>(threadIdx.x) / 128;
  if (threadIdx.x == 0) {
    ptx::barrier_init(&full, 1);
    ptx::barrier_init_fence();
  }
  __syncthreads();

  float sum[kBlock / 2];
  uint32_t parity = 0;
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    if (threadIdx.x == 0) {
      ptx::barrier_expect(&full, kStageBytes);
      ptx::tma_load(tile_a, &map_a, &full, k0, row);
      ptx::tma_load(tile_b, &map_b, &full, k0, col);
    }
    ptx::barrier_wait(&full, parity);
    parity ^= 1;
    const uint64_t a = ptx::tile_descriptor(tile_a + own * 64 * kDepth), b = ptx::tile_descriptor(tile_b);
    ptx::wgmma_fence();
#pragma unroll
    for (int l = 0; l < kDepth / 16; ++l) ptx::wgmma(sum, a + 2 * l, b + 2 * l, k0 + l > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    __syncthreads();  // both warpgroups have read the tiles
  }
  ptx::wgmma_results(sum);
  store(sum, c, m, n, row + own * 64, col);
#endif
}

}  // namespace

void wgmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
                std::size_t, cudaStream_t stream) {
  const CUtensorMap map_a = ptx::describe(a, m, k, kBlock, kDepth), map_b = ptx::describe(b, n, k, kBlock, kDepth);
  const dim3 grid((n + kBlock - 1) / kBlock, (m + kBlock - 1) / kBlock);
  gemm_kernel<<<grid, kThreads, 0, stream>>>(map_a, map_b, c, m, n, k);
}
// END(wgmma_gemm)
