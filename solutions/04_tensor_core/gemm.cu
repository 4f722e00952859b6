// Lab 04, task `gemm`: c = a b^T as fast as a Hopper GPU can.
//
// The kernel below is right, and slow: each thread computes one element. Start from your answer to `wgmma_gemm`, and
// climb in steps: a ring of stages, warps with roles, a larger tile (see ptx.hpp). It needs sm_90a or the emulator.
// Run: ./ridge check 04 --task gemm
#include "ptx.hpp"
#include "tensor_core.hpp"

// TASK(gemm)
#include "hopper_gemm.cuh"

struct Round {
  __device__ uint32_t operator()(float x, float y, int) const { return ptx::pack(x, y); }
};

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, std::size_t,
          cudaStream_t stream) {
  hopper::multiply(a, b, c, m, n, k, Round(), stream);
}
// END(gemm)
