// Style: eight warps of 64 x 32, three stages of cuda::memcpy_async counted by cuda::barrier objects in shared memory.
#include <mma.h>

#include <cuda/barrier>

#include "tensor_core.hpp"

namespace {

namespace wm = nvcuda::wmma;
using bf16 = __nv_bfloat16;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kTile = 128, kDepth = 64, kPitch = kDepth + 8, kStages = 3, kThreads = 256;

struct Stage {
  bf16 a[kTile][kPitch], b[kTile][kPitch];
};

struct Task {
  const bf16 *a, *b;
  bf16* c;
  int m, n, k;
};

// matrix: rows x k
__device__ void request(bf16 (*to)[kPitch], const bf16* matrix, int row0, int rows, int k0, int k, Barrier& arrived) {
#pragma unroll
  for (int e = 0; e < kTile * kDepth / 8 / kThreads; ++e) {
    const int i = e * kThreads + threadIdx.x, r = i / 8, p = i % 8 * 8;
    uint4* place = reinterpret_cast<uint4*>(&to[r][p]);
    if (row0 + r < rows && k0 + p < k)
      cuda::memcpy_async(place,
                         reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(row0 + r) * k + k0 + p),
                         cuda::aligned_size_t<16>(sizeof(uint4)), arrived);
    else
      *place = uint4{0, 0, 0, 0};
  }
}

// t.a: m x k; t.b: n x k; t.c: m x n
__global__ void __launch_bounds__(kThreads) wmma_barriers(const Task t) {
  extern __shared__ __align__(128) unsigned char wmma_arena[];
  Stage* const stages = reinterpret_cast<Stage*>(wmma_arena);
  __shared__ Barrier full[kStages];
  if (threadIdx.x < kStages) init(&full[threadIdx.x], kThreads);
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int wr = warp / 4 * 64, wc = warp % 4 * 32;
  const int steps = (t.k + kDepth - 1) / kDepth;
  Barrier::arrival_token tokens[kStages];

  auto start = [&](int step) {
    if (step >= steps) return;
    const int s = step % kStages;
    request(stages[s].a, t.a, row0, t.m, step * kDepth, t.k, full[s]);
    request(stages[s].b, t.b, col0, t.n, step * kDepth, t.k, full[s]);
    tokens[s] = full[s].arrive();
  };

  wm::fragment<wm::accumulator, 16, 16, 16, float> acc[4][2];
  for (auto& row : acc)
    for (auto& f : row) wm::fill_fragment(f, 0.0f);
  for (int s = 0; s < kStages - 1; ++s) start(s);
  for (int step = 0; step < steps; ++step) {
    const int s = step % kStages;
    full[s].wait(std::move(tokens[s]));
    __syncthreads();  // all have read the stage of the step before
    start(step + kStages - 1);
#pragma unroll
    for (int p = 0; p < kDepth; p += 16) {
      wm::fragment<wm::matrix_a, 16, 16, 16, bf16, wm::row_major> fa[4];
      wm::fragment<wm::matrix_b, 16, 16, 16, bf16, wm::col_major> fb[2];
      for (int i = 0; i < 4; ++i) wm::load_matrix_sync(fa[i], &stages[s].a[wr + 16 * i][p], kPitch);
      for (int j = 0; j < 2; ++j) wm::load_matrix_sync(fb[j], &stages[s].b[wc + 16 * j][p], kPitch);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) wm::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
  }

  constexpr int kPatch = 40;  // 8 mod 32 words
  // All warps have left every stage but the last one: the stage behind it is free.
  float* patch = reinterpret_cast<float*>(stages + steps % kStages) + warp * 16 * kPatch;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) wm::store_matrix_sync(patch + 16 * j, acc[i][j], kPatch, wm::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 16 * 32 / 4; e += 32) {
      const int r = e / 8, q = e % 8 * 4, row = row0 + wr + 16 * i + r, col = col0 + wc + q;
      if (row >= t.m || col >= t.n) continue;
      const float4 v = *reinterpret_cast<const float4*>(patch + r * kPatch + q);
      union {
        __nv_bfloat162 pair[2];
        uint2 word;
      } packed;
      packed.pair[0] = __float22bfloat162_rn(make_float2(v.x, v.y));
      packed.pair[1] = __float22bfloat162_rn(make_float2(v.z, v.w));
      *reinterpret_cast<uint2*>(t.c + static_cast<std::size_t>(row) * t.n + col) = packed.word;
    }
    __syncwarp();
  }
}

}  // namespace

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*,
               std::size_t, cudaStream_t stream) {
  constexpr int bytes = kStages * static_cast<int>(sizeof(Stage));
  cudaFuncSetAttribute(wmma_barriers, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  wmma_barriers<<<grid, kThreads, bytes, stream>>>(Task{a, b, c, m, n, k});
}
