// The product of tasks `gemm` and `gemm_gelu` on Hopper: TMA, wgmma, warps with roles, a ring of stages, persistent
// blocks. What is done with an element before it is stored is a parameter.
//
// A block computes 128 x 256 of c at a time. Of its three warpgroups the first one loads (one thread of it), and the
// others multiply, 64 x 256 each. For each 64 of k it loads 128 + 256 rows of 128 bytes, 48 KiB.
#pragma once
#include <algorithm>

#include "ptx.hpp"
#include "tensor_core.hpp"

namespace hopper {

constexpr int kBlockM = 128, kBlockN = 256, kBlockK = 64;  // k: 128 bytes, the width of the swizzle
constexpr int kStages = 4;
constexpr int kGroup = 16;     // rows of tiles that are walked through together
constexpr int kConsumers = 2;  // warpgroups of 64 rows
constexpr int kThreads = 128 * (1 + kConsumers);
// The kernel starts with 168 registers a thread (65536 / 384, down to a multiple of 8); 40 + 2 x 232 = 3 x 168.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

constexpr int kPart = 64;  // columns that are stored at once: again 128 bytes
struct Shared {
  __nv_bfloat16 a[kStages][kBlockM * kBlockK];
  __nv_bfloat16 b[kStages][kBlockN * kBlockK];
  __nv_bfloat16 c[kConsumers][2][64 * kPart];
  uint64_t full[kStages], empty[kStages];
};
constexpr int kStageBytes = (kBlockM + kBlockN) * kBlockK * 2;
constexpr int kSharedBytes = sizeof(Shared) + 1024;  // tiles begin at multiples of 1024
static_assert(kSharedBytes <= 227 * 1024);

// The order of the tiles: down kGroup of them, then one column to the right. 132 blocks at work together cover about
// 16 x 8 tiles, 2048 x 2048 of c: 8 MiB of a and b for each 1024 of k, all from L2 but once.
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

// One thread loads all tiles of its block, as far ahead as the ring allows.
__device__ inline void produce(Shared& s, const CUtensorMap* map_a, const CUtensorMap* map_b, const Tiles& tiles,
                               int k) {
  Place at;
  for (int i = blockIdx.x; i < tiles.count(); i += gridDim.x) {
    int row, col;
    tiles.at(i, row, col);
    for (int k0 = 0; k0 < k; k0 += kBlockK) {
      ptx::barrier_wait(&s.empty[at.stage], at.parity ^ 1);
      uint64_t* full = &s.full[at.stage];
      ptx::barrier_expect(full, kStageBytes);
      ptx::tma_load(s.a[at.stage], map_a, full, k0, row);
      ptx::tma_load(s.b[at.stage], map_b, full, k0, col);
      at.next();
    }
  }
}

// A warpgroup's 64 x 256 results: converted, through shared memory, and stored by TMA, 64 columns at a time. The copy
// of one part runs while the next one is made ready in the other buffer.
template <class Epilogue>
__device__ void store(__nv_bfloat16 (&buffers)[2][64 * kPart], float (&sum)[kBlockN / 2], const CUtensorMap* map_c,
                      int row, int col, int number, const Epilogue& epilogue) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const int own_row = warp * 16 + lane % 16;  // whose address this lane gives to stmatrix
#pragma unroll
  for (int part = 0; part < kBlockN / kPart; ++part) {
    __nv_bfloat16* buffer = buffers[part % 2];
    if (thread == 0) ptx::tma_wait_read<1>();  // the store before the last has left this buffer
    ptx::block_barrier(number, 128);
#pragma unroll
    for (int j = 0; j < kPart; j += 16) {
      const float* d = sum + (part * kPart + j) / 2;
      const int column = col + part * kPart + j + lane % 4 * 2;
      // Four 8 x 8 matrices: rows 0-7 and 8-15 of 8 columns, then of the next 8. Lanes 16-31 name the latter's rows.
      const int chunk = (j / 8 + lane / 16) ^ (own_row % 8);  // swizzled, as TMA expects it: no bank conflicts
      ptx::store_matrices(ptx::address(buffer) + own_row * 128 + chunk * 16, epilogue(d[0], d[1], column),
                          epilogue(d[2], d[3], column), epilogue(d[4], d[5], column + 8),
                          epilogue(d[6], d[7], column + 8));
    }
    ptx::fence_async();
    ptx::block_barrier(number, 128);
    if (thread == 0) {
      ptx::tma_store(map_c, buffer, col + part * kPart, row);
      ptx::tma_commit();
    }
  }
}

// A warpgroup multiplies 64 rows of each tile. One group of wgmma is always under way while the next is issued; a stage
// is given back when the group that read it has ended.
template <class Epilogue>
__device__ void consume(Shared& s, const CUtensorMap* map_c, const Tiles& tiles, int k, const Epilogue& epilogue) {
  const int own = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  float sum[kBlockN / 2];
  Place at;
  auto give_back = [&](int stage) {  // each warp for itself
    if (lane == 0) ptx::barrier_arrive(&s.empty[stage]);
  };
  for (int i = blockIdx.x; i < tiles.count(); i += gridDim.x) {
    int last = 0;
    for (int k0 = 0; k0 < k; k0 += kBlockK) {
      ptx::barrier_wait(&s.full[at.stage], at.parity);
      const uint64_t a = ptx::tile_descriptor(s.a[at.stage] + own * 64 * kBlockK);
      const uint64_t b = ptx::tile_descriptor(s.b[at.stage]);
      ptx::wgmma_fence();
#pragma unroll
      for (int l = 0; l < kBlockK / 16; ++l) ptx::wgmma(sum, a + 2 * l, b + 2 * l, k0 + l > 0);
      ptx::wgmma_commit();
      if (k0 > 0) {
        ptx::wgmma_wait<1>();
        give_back(last);
      }
      last = at.stage;
      at.next();
    }
    ptx::wgmma_wait<0>();
    ptx::wgmma_results(sum);
    give_back(last);
    int row, col;
    tiles.at(i, row, col);
    store(s.c[own], sum, map_c, row + own * 64, col, 1 + own, epilogue);
  }
  if (threadIdx.x % 128 == 0) ptx::tma_wait_read<0>();  // shared memory must outlive the copies from it
}

// a: m x k; b: n x k; c: m x n, as maps. epilogue(x, y, column): the results at that column and the next, as two bf16.
template <class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, int m, int n, int k, Epilogue epilogue) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(memory) + 1023) / 1024 * 1024);
  if (threadIdx.x == 0) {
    ptx::prefetch_map(&map_a);
    ptx::prefetch_map(&map_b);
    ptx::prefetch_map(&map_c);
    for (int i = 0; i < kStages; ++i) {
      ptx::barrier_init(&s.full[i], 1);
      ptx::barrier_init(&s.empty[i], kConsumers * 4);  // warps
    }
    ptx::barrier_init_fence();
  }
  __syncthreads();

  const Tiles tiles(m, n);
  if (threadIdx.x < 128) {
    ptx::fewer_registers<kProducerRegisters>();
    if (threadIdx.x == 0) produce(s, &map_a, &map_b, tiles, k);
  } else {
    ptx::more_registers<kConsumerRegisters>();
    consume(s, &map_c, tiles, k, epilogue);
  }
#endif
}

template <class Epilogue>
void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, Epilogue epilogue,
              cudaStream_t stream) {
  const CUtensorMap map_a = ptx::describe(a, m, k, kBlockM, kBlockK);
  const CUtensorMap map_b = ptx::describe(b, n, k, kBlockN, kBlockK);
  const CUtensorMap map_c = ptx::describe(c, m, n, 64, kPart);
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int tiles = ((m + kBlockM - 1) / kBlockM) * ((n + kBlockN - 1) / kBlockN);
  cudaFuncSetAttribute(kernel<Epilogue>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  kernel<<<std::min(tiles, processors), kThreads, kSharedBytes, stream>>>(map_a, map_b, map_c, m, n, k, epilogue);
}

}  // namespace hopper
