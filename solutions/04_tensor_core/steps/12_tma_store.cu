// replaces: gemm.cu; task: gemm; step: 12; idea: results leave by stmatrix and TMA stores; needs: sm_90a
#include <algorithm>

#include "ptx.hpp"
#include "tensor_core.hpp"

constexpr int kBlockM = 128, kBlockN = 256, kDepth = 64;  // of c, and of k
constexpr int kStages = 4, kConsumers = 2;                // warpgroups of 64 rows
constexpr int kGroup = 16;                                // rows of tiles that are walked through together
constexpr int kThreads = 128 * (1 + kConsumers);
// 65536 registers / 384 threads: 168 each at the start; 40 + 2 x 232 = 3 x 168.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

constexpr int kPart = 64;  // columns that are stored at once: 128 bytes, the width of the swizzle
struct Shared {
  __nv_bfloat16 a[kStages][kBlockM * kDepth];
  __nv_bfloat16 b[kStages][kBlockN * kDepth];
  __nv_bfloat16 c[kConsumers][2][64 * kPart];
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

// The order of the tiles: down kGroup of them, then one column to the right. What 132 blocks work on together is about
// as high as wide, and shares its rows of a and b in L2.
struct Tiles {
  int down, across;
  __device__ Tiles(int m, int n) : down((m + kBlockM - 1) / kBlockM), across((n + kBlockN - 1) / kBlockN) {}
  __device__ int count() const { return down * across; }
  __device__ void at(int i, int& row, int& col) const {
    const int group = i / (kGroup * across), inside = i % (kGroup * across);
    const int rows = min(down - group * kGroup, kGroup);
    row = (group * kGroup + inside % rows) * kBlockM;
    col = inside / rows * kBlockN;
  }
};

// A warpgroup's 64 x 256 sums: converted, through shared memory, and stored by TMA, 64 columns at a time. The copy of
// one part runs while the next one is made ready in the other buffer.
__device__ void store(__nv_bfloat16 (&buffers)[2][64 * kPart], const float (&sum)[kBlockN / 2],
                      const CUtensorMap* map_c, int row, int col, int number) {
  const int thread = static_cast<int>(threadIdx.x) % 128, warp = thread / 32, lane = thread % 32;
  const int own_row = warp * 16 + lane % 16;  // whose address this lane gives to stmatrix
#pragma unroll
  for (int part = 0; part < kBlockN / kPart; ++part) {
    __nv_bfloat16* buffer = buffers[part % 2];
    if (thread == 0) ptx::tma_wait_read<1>();  // the store before the last has left this buffer
    ptx::block_barrier(number, 128);
#pragma unroll
    for (int j = 0; j < kPart; j += 16) {
      const float* d = sum + (part * kPart + j) / 2;
      // Four 8 x 8 matrices: rows 0-7 and 8-15 of 8 columns, then of the next 8. Lanes 16-31 name the latter's rows.
      const int chunk = (j / 8 + lane / 16) ^ (own_row % 8);  // swizzled, as TMA expects it: no bank conflicts
      ptx::store_matrices(ptx::address(buffer) + own_row * 128 + chunk * 16, ptx::pack(d[0], d[1]),
                          ptx::pack(d[2], d[3]), ptx::pack(d[4], d[5]), ptx::pack(d[6], d[7]));
    }
    ptx::fence_async();
    ptx::block_barrier(number, 128);
    if (thread == 0) {
      ptx::tma_store(map_c, buffer, col + part * kPart, row);
      ptx::tma_commit();
    }
  }
}

// a: m x k; b: n x k; c: m x n, as maps. There are as many blocks as multiprocessors. While the consumers store a
// tile, the producer loads the first stages of the next.
__global__ void __launch_bounds__(kThreads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ CUtensorMap map_c, int m, int n, int k) {
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

  const Tiles tiles(m, n);
  Place at;
  int row, col;
  if (threadIdx.x < 128) {
    ptx::fewer_registers<kProducerRegisters>();
    if (threadIdx.x > 0) return;
    for (int i = static_cast<int>(blockIdx.x); i < tiles.count(); i += static_cast<int>(gridDim.x)) {
      tiles.at(i, row, col);
      for (int k0 = 0; k0 < k; k0 += kDepth) {
        ptx::barrier_wait(&s.empty[at.stage], at.parity ^ 1);
        ptx::barrier_expect(&s.full[at.stage], kStageBytes);
        ptx::tma_load(s.a[at.stage], &map_a, &s.full[at.stage], k0, row);
        ptx::tma_load(s.b[at.stage], &map_b, &s.full[at.stage], k0, col);
        at.next();
      }
    }
  } else {
    ptx::more_registers<kConsumerRegisters>();
    const int own = static_cast<int>(threadIdx.x) / 128 - 1;
    float sum[kBlockN / 2];
    for (int i = static_cast<int>(blockIdx.x); i < tiles.count(); i += static_cast<int>(gridDim.x)) {
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
          ptx::wgmma_wait<1>();
          if (threadIdx.x % 32 == 0) ptx::barrier_arrive(&s.empty[last]);
        }
        last = at.stage;
        at.next();
      }
      ptx::wgmma_wait<0>();
      ptx::wgmma_results(sum);
      if (threadIdx.x % 32 == 0) ptx::barrier_arrive(&s.empty[last]);
      tiles.at(i, row, col);
      store(s.c[own], sum, &map_c, row + own * 64, col, 1 + own);
    }
    if (threadIdx.x % 128 == 0) ptx::tma_wait_read<0>();  // shared memory must outlive the copies from it
  }
#endif
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, std::size_t,
          cudaStream_t stream) {
  const CUtensorMap map_a = ptx::describe(a, m, k, kBlockM, kDepth), map_b = ptx::describe(b, n, k, kBlockN, kDepth);
  const CUtensorMap map_c = ptx::describe(c, m, n, 64, kPart);
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int grid = std::min(processors, ((m + kBlockM - 1) / kBlockM) * ((n + kBlockN - 1) / kBlockN));
  cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  gemm_kernel<<<grid, kThreads, kSharedBytes, stream>>>(map_a, map_b, map_c, m, n, k);
}
