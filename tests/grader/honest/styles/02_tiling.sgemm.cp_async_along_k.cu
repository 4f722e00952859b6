// Style: cp.async of 16 bytes, A stays row-major in shared memory and is read along k; dynamic shared memory, 3 stages.
#include <cuda_pipeline.h>

#include "tiling.hpp"

extern __shared__ float4 sgemm_arena[];

namespace {

constexpr int kM = 64, kN = 128, kK = 16, kStages = 3, kThreads = 128;
constexpr int kPitchA = kK + 4, kPitchB = kN;
constexpr int kFloatsA = kM * kPitchA, kFloatsB = kK * kPitchB;

__device__ int clip(int room) { return room < 0 ? 0 : room > 4 ? 4 : room; }

// 4 neighbours of a row from global to shared memory; `room` of them exist, the others become 0.
template <int Bytes>
__device__ void bring(float* to, const float* from, const float* valid, int room) {
  room = clip(room);
  if constexpr (Bytes == 16) {
    __pipeline_memcpy_async(to, room > 0 ? from : valid, 16, 16 - 4 * room);
  } else {
    for (int i = 0; i < 4; ++i) __pipeline_memcpy_async(to + i, i < room ? from + i : valid, 4, i < room ? 0 : 4);
  }
}

// a: m x k; b: k x n; c: m x n. BytesA, BytesB: what one copy moves
template <int BytesA, int BytesB>
__global__ void __launch_bounds__(kThreads)
    sgemm_stages(const float* a, const float* b, float* c, int m, int n, int k, int tiles_n) {
  float* const base = reinterpret_cast<float*>(sgemm_arena);
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int row0 = blockIdx.x / tiles_n * kM, col0 = blockIdx.x % tiles_n * kN;
  // Warps lie 2 x 2, each on 32 x 64. Lanes of a pair share columns; lanes two apart share rows.
  const int row = warp / 2 * 32 + (lane & 1) + 2 * (lane >> 4);
  const int col = warp % 2 * 64 + 4 * ((lane >> 1) & 7);
  const int steps = (k + kK - 1) / kK;

  auto start = [&](int step) {
    if (step < steps) {
      float* sa = base + step % kStages * (kFloatsA + kFloatsB);
      float* sb = sa + kFloatsA;
      const int k0 = step * kK;
#pragma unroll
      for (int i = 0; i < kM * kK / 4 / kThreads; ++i) {
        // 8 lanes fill two rows that are 4 apart: with 20 words a row these lie in different banks.
        const int q = tid + i * kThreads, s = q / (kK / 4), p = q % (kK / 4) * 4;
        const int r = (s & ~7) + (s & 1) * 4 + (s >> 1 & 3);
        bring<BytesA>(sa + r * kPitchA + p, a + static_cast<std::size_t>(row0 + r) * k + k0 + p, a,
                      row0 + r < m ? k - k0 - p : 0);
      }
#pragma unroll
      for (int i = 0; i < kK * kN / 4 / kThreads; ++i) {
        const int q = tid + i * kThreads, p = q / (kN / 4), j = q % (kN / 4) * 4;
        bring<BytesB>(sb + p * kPitchB + j, b + static_cast<std::size_t>(k0 + p) * n + col0 + j, b,
                      k0 + p < k ? n - col0 - j : 0);
      }
    }
    __pipeline_commit();
  };

  float acc[8][8] = {};
  for (int s = 0; s < kStages - 1; ++s) start(s);
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    start(step + kStages - 1);
    const float* sa = base + step % kStages * (kFloatsA + kFloatsB);
    const float* sb = sa + kFloatsA;
#pragma unroll
    for (int p = 0; p < kK; p += 4) {
      float4 fa[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) fa[i] = *reinterpret_cast<const float4*>(sa + (row + 4 * i) * kPitchA + p);
      auto add = [&](int q, auto member) {
        const float4 lo = *reinterpret_cast<const float4*>(sb + (p + q) * kPitchB + col);
        const float4 hi = *reinterpret_cast<const float4*>(sb + (p + q) * kPitchB + col + 32);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float f = fa[i].*member;
          acc[i][0] += f * lo.x, acc[i][1] += f * lo.y, acc[i][2] += f * lo.z, acc[i][3] += f * lo.w;
          acc[i][4] += f * hi.x, acc[i][5] += f * hi.y, acc[i][6] += f * hi.z, acc[i][7] += f * hi.w;
        }
      };
      add(0, &float4::x);
      add(1, &float4::y);
      add(2, &float4::z);
      add(3, &float4::w);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = row0 + row + 4 * i;
    if (r >= m) break;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int x = col0 + col + 32 * h;
      float* to = c + static_cast<std::size_t>(r) * n + x;
      if (BytesB == 16 && x < n)
        *reinterpret_cast<float4*>(to) = {acc[i][4 * h], acc[i][4 * h + 1], acc[i][4 * h + 2], acc[i][4 * h + 3]};
      else
        for (int j = 0; j < 4 && x + j < n; ++j) to[j] = acc[i][4 * h + j];
    }
  }
}

}  // namespace

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const int tiles_m = (m + kM - 1) / kM, tiles_n = (n + kN - 1) / kN;
  const std::size_t bytes = kStages * (kFloatsA + kFloatsB) * sizeof(float);
  auto* kernel = k % 4 == 0 ? (n % 4 == 0 ? sgemm_stages<16, 16> : sgemm_stages<16, 4>)
                            : (n % 4 == 0 ? sgemm_stages<4, 16> : sgemm_stages<4, 4>);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  kernel<<<tiles_m * tiles_n, kThreads, bytes, stream>>>(a, b, c, m, n, k, tiles_n);
}
