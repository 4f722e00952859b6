// Lab 04, task `wmma_gemm`: c = a b^T on the tensor cores.
//
// The kernel below is right, and uses neither tensor cores nor shared memory: each thread computes one element. Let
// each warp multiply 16 x 16 x 16 fragments, then bring tiles into shared memory. Run: ./ridge check 04 --task
// wmma_gemm
#include <mma.h>

#include "tensor_core.hpp"

// TASK(wmma_gemm)
// a: m x k; b: n x k; c: m x n, all row-major. Thread (x, y) computes c[y][x].
__global__ void wmma_gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                                 int k) {
  const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= m || j >= n) return;
  // TODO: nvcuda::wmma fragments; then tiles of a and b in shared memory, with padded rows.
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(a[static_cast<std::size_t>(i) * k + l]) *
           __bfloat162float(b[static_cast<std::size_t>(j) * k + l]);
  c[static_cast<std::size_t>(i) * n + j] = __float2bfloat16(sum);
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  const dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
  wmma_gemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
// END(wmma_gemm)
