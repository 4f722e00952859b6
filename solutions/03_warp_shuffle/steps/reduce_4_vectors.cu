// replaces: reduce.cu; task: reduce; step: 4; idea: 16-byte loads, eight on their way before the first addition
#include "warp_shuffle.hpp"

constexpr int kThreads = 256, kLoads = 8;

__device__ static float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}

// in: n floats; out: 1 float, 0 before. A block takes 32 KiB: 128 bytes of each thread are on their way at once.
__global__ void __launch_bounds__(kThreads) reduce_kernel(const float* in, float* out, std::size_t n) {
  __shared__ float of_warp[kThreads / 32];
  const auto* vectors = reinterpret_cast<const float4*>(in);
  const std::size_t count = n / 4, first = std::size_t{blockIdx.x} * kThreads * kLoads + threadIdx.x;
  float4 v[kLoads];
#pragma unroll
  for (int k = 0; k < kLoads; ++k)
    v[k] = first + k * kThreads < count ? vectors[first + k * kThreads] : make_float4(0, 0, 0, 0);
  float sum = blockIdx.x == 0 && threadIdx.x < n % 4 ? in[count * 4 + threadIdx.x] : 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : 0);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  const std::size_t tile = 4 * kThreads * kLoads;
  reduce_kernel<<<static_cast<unsigned>((n + tile - 1) / tile), kThreads, 0, stream>>>(in, out, n);
}
