// All pairs. bodies: (n) x, y, z and mass; forces: (parts, n) accelerations. n is a multiple of 2048 here.
#pragma once
#include "bench.cuh"

__device__ __forceinline__ float rsqrt_fast(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// 12 operations of fp32 and one of the special function unit: 13 instructions.
__device__ __forceinline__ void pull(float4 at, float4 from, float softening, float3& a) {
  const float dx = from.x - at.x, dy = from.y - at.y, dz = from.z - at.z;
  const float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
  const float inverse = rsqrt_fast(r2);
  const float s = from.w * inverse * inverse * inverse;
  a.x = fmaf(s, dx, a.x), a.y = fmaf(s, dy, a.y), a.z = fmaf(s, dz, a.z);
}

// Block (i, p): B T bodies, against part p of all. A thread has T bodies; sources come in tiles through shared memory.
template <int B, int T, int U, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks)
    pairs_kernel(const float4* __restrict__ bodies, float4* __restrict__ forces, int n, float softening) {
  __shared__ float4 tile[B];
  const int first = blockIdx.x * B * T + threadIdx.x, part = n / gridDim.y;
  float4 at[T];
  float3 a[T];
#pragma unroll
  for (int t = 0; t < T; ++t) at[t] = bodies[first + t * B], a[t] = make_float3(0, 0, 0);
  for (int j = blockIdx.y * part; j < (blockIdx.y + 1) * part; j += B) {
    tile[threadIdx.x] = bodies[j + threadIdx.x];
    __syncthreads();
#pragma unroll U
    for (int k = 0; k < B; ++k) {
      const float4 from = tile[k];
#pragma unroll
      for (int t = 0; t < T; ++t) pull(at[t], from, softening, a[t]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int t = 0; t < T; ++t)
    forces[std::size_t(blockIdx.y) * n + first + t * B] = make_float4(a[t].x, a[t].y, a[t].z, 0);
}

__global__ void add_parts_kernel(const float4* parts, float4* forces, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 sum = parts[i];
  for (int p = 1; p < count; ++p) {
    const float4 v = parts[std::size_t(p) * n + i];
    sum.x += v.x, sum.y += v.y, sum.z += v.z;
  }
  forces[i] = sum;
}

// The bound: I instructions a pair, independent, nothing else. A thread does `rounds` times 8 pairs; kSpecial: one of them
// is a reciprocal square root.
template <int I, bool kSpecial>
__global__ void __launch_bounds__(256) issue_kernel(float* out, int rounds, float by) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = threadIdx.x + i;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < I; ++k)
#pragma unroll
      for (int i = 0; i < 8; ++i) v[i] = kSpecial && k == 0 ? rsqrt_fast(v[i]) : fmaf(v[i], by, by);
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += v[i];
  if (sum == 12345.0f) out[0] = sum;
}
