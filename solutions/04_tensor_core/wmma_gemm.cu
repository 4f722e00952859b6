// Lab 04, task `wmma_gemm`: c = a b^T on the tensor cores.
//
// The kernel below is right, and uses neither tensor cores nor shared memory: each thread computes one element. Let
// each warp multiply 16 x 16 x 16 fragments, then bring tiles into shared memory. Run: ./ridge check 04 --task
// wmma_gemm
#include <mma.h>

#include "tensor_core.hpp"

// TASK(wmma_gemm)
#include "wmma_tile.cuh"

// a: m x k; b: n x k; c: m x n, all row-major. A block computes a 128 x 128 tile of c.
__global__ void __launch_bounds__(wmma_tile::kThreads, 2)
    wmma_gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  wmma_tile::multiply(a, b, c, m, n, k, [](int) { return [](float4 sums) { return sums; }; });
}

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  wmma_tile::launch(wmma_gemm_kernel, m, n, stream, a, b, c, m, n, k);
}
// END(wmma_gemm)
