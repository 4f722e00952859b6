// Activations are float, bf16 or fp16 (the template parameter T of everything here); arithmetic is always fp32. These are the
// two conversions, and the sums and maxima that kernels take over a warp or a block.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace nn {

__device__ inline float to_float(float v) { return v; }
__device__ inline float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ inline float to_float(__half v) { return __half2float(v); }

__device__ inline void store(float* to, float v) { *to = v; }
__device__ inline void store(__nv_bfloat16* to, float v) { *to = __float2bfloat16(v); }
__device__ inline void store(__half* to, float v) { *to = __float2half(v); }

constexpr unsigned kWarp = 0xffffffffu;

__device__ inline float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kWarp, v, step);
  return v;
}

__device__ inline float warp_max(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(kWarp, v, step));
  return v;
}

// The sum over a block of whole warps, in every thread. of_warp: 32 floats of shared memory for this call alone.
__device__ inline float block_sum(float v, float* of_warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  v = warp_sum(v);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  return warp_sum(lane < static_cast<int>(blockDim.x) / 32 ? of_warp[lane] : 0.0f);
}

__device__ inline float block_max(float v, float* of_warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  v = warp_max(v);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  return warp_max(lane < static_cast<int>(blockDim.x) / 32 ? of_warp[lane] : of_warp[0]);
}

inline int blocks_for(std::size_t items, int of_block) {
  return static_cast<int>((items + static_cast<std::size_t>(of_block) - 1) / static_cast<std::size_t>(of_block));
}

// Element-wise kernels use this many threads a block; kernels with a warp a row use this many warps.
constexpr int kThreads = 256;
constexpr int kRowsOfBlock = 4;

}  // namespace nn
