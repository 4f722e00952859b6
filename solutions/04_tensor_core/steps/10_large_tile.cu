// replaces: gemm.cu; task: gemm; step: 10; idea: tiles of 128 x 256, and registers move to who needs them; needs: sm_90a
#include "ptx.hpp"
#include "tensor_core.hpp"

constexpr int kBlockM = 128, kBlockN = 256, kDepth = 64;  // of c, and of k
constexpr int kStages = 4, kConsumers = 2;                // warpgroups of 64 rows
constexpr int kThreads = 128 * (1 + kConsumers);
// 65536 registers / 384 threads: 168 each at the start; 40 + 2 x 232 = 3 x 168.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

struct Shared {
  __nv_bfloat16 a[kStages][kBlockM * kDepth];
  __nv_bfloat16 b[kStages][kBlockN * kDepth];
  uint64_t full[kStages], empty[kStages];
};
constexpr int kStageBytes = (kBlockM + kBlockN) * kDepth * 2;
constexpr int kSharedBytes = sizeof(Shared) + 1024;  // tiles begin at multiples of 1024

// A place in the ring: stage, and the parity of its use.
struct Place {
  int stage = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

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

// a: m x k; b: n x k; c: m x n, as maps or row-major. A block computes a 128 x 256 tile of c, a warpgroup 64 x 256 of
// it: 128 registers of a thread hold sums. For each 64 of k it reads 48 KiB and does 85 operations for each byte, not
// 64.
__global__ void __launch_bounds__(kThreads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c,
                int m, int n, int k) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(memory) + 1023) / 1024 * 1024);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptx::barrier_init(&s.full[i], 1);
      ptx::barrier_init(&s.empty[i], kConsumers * 4);  // warps
    }
    ptx::barrier_init_fence();
  }
  __syncthreads();

  const int row = static_cast<int>(blockIdx.y) * kBlockM, col = static_cast<int>(blockIdx.x) * kBlockN;
  Place at;
  if (threadIdx.x < 128) {
    ptx::fewer_registers<kProducerRegisters>();
    if (threadIdx.x > 0) return;
    for (int k0 = 0; k0 < k; k0 += kDepth) {
      ptx::barrier_wait(&s.empty[at.stage], at.parity ^ 1);  // passes at once in the first round
      ptx::barrier_expect(&s.full[at.stage], kStageBytes);
      ptx::tma_load(s.a[at.stage], &map_a, &s.full[at.stage], k0, row);
      ptx::tma_load(s.b[at.stage], &map_b, &s.full[at.stage], k0, col);
      at.next();
    }
  } else {
    ptx::more_registers<kConsumerRegisters>();
    const int own = static_cast<int>(threadIdx.x) / 128 - 1;
    float sum[kBlockN / 2];
    int last = 0;
    for (int k0 = 0; k0 < k; k0 += kDepth) {
      ptx::barrier_wait(&s.full[at.stage], at.parity);
      const uint64_t a = ptx::tile_descriptor(s.a[at.stage] + own * 64 * kDepth);
      const uint64_t b = ptx::tile_descriptor(s.b[at.stage]);
      ptx::wgmma_fence();
#pragma unroll
      for (int l = 0; l < kDepth / 16; ++l) ptx::wgmma(sum, a + 2 * l, b + 2 * l, k0 + l > 0);
      ptx::wgmma_commit();
      if (k0 > 0) {
        ptx::wgmma_wait<1>();  // the products of the last stage have ended, those of this one go on
        if (threadIdx.x % 32 == 0) ptx::barrier_arrive(&s.empty[last]);
      }
      last = at.stage;
      at.next();
    }
    ptx::wgmma_wait<0>();
    ptx::wgmma_results(sum);
    store(sum, c, m, n, row + own * 64, col);
  }
#endif
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, std::size_t,
          cudaStream_t stream) {
  const CUtensorMap map_a = ptx::describe(a, m, k, kBlockM, kDepth), map_b = ptx::describe(b, n, k, kBlockN, kDepth);
  const dim3 grid((n + kBlockN - 1) / kBlockN, (m + kBlockM - 1) / kBlockM);
  cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  gemm_kernel<<<grid, kThreads, kSharedBytes, stream>>>(map_a, map_b, c, m, n, k);
}
