// Lab 04, task `gemm`: c = a b^T as fast as a Hopper GPU can.
//
// The kernel below is right, and slow: each thread computes one element. Start from your answer to `wgmma_gemm`, and
// climb in steps: a ring of stages, warps with roles, a larger tile (see ptx.hpp). It needs sm_90a or the emulator.
// Run: ./ridge check 04 --task gemm
#include "ptx.hpp"
#include "tensor_core.hpp"

// TASK(gemm)
// a: m x k; b: n x k; c: m x n, all row-major. Thread (x, y) computes c[y][x].
__global__ void gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= m || j >= n) return;
  // TODO: a pipeline of TMA loads and wgmma.
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(a[static_cast<std::size_t>(i) * k + l]) *
           __bfloat162float(b[static_cast<std::size_t>(j) * k + l]);
  c[static_cast<std::size_t>(i) * n + j] = __float2bfloat16(sum);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, std::size_t,
          cudaStream_t stream) {
  const dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
  gemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
// END(gemm)
