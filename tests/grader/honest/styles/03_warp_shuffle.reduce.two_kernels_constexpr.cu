// Style: a template over the block's size with if constexpr, __shfl_down_sync, a second kernel for the rest.
#include "warp_shuffle.hpp"

namespace {

#define FULL_MASK 0xffffffffu

__device__ __forceinline__ float warpReduceSum(float val) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

template <unsigned int blockSize>
__device__ __forceinline__ float blockReduceSum(float val) {
  static_assert(blockSize % 32 == 0 && blockSize <= 1024, "whole warps");
  val = warpReduceSum(val);
  if constexpr (blockSize > 32) {
    static __shared__ float shared[blockSize / 32];
    const unsigned lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    if (wid == 0) {
      val = lane < blockSize / 32 ? shared[lane] : 0.0f;
      val = warpReduceSum(val);
    }
  }
  return val;
}

// g_idata: n floats; g_odata: a float for each block
template <unsigned int blockSize>
__global__ void reduceStage(const float* __restrict__ g_idata, float* __restrict__ g_odata, size_t n) {
  float sum = 0.0f, sum2 = 0.0f;
  const size_t gridSize = (size_t)blockSize * 2 * gridDim.x;
  size_t i = (size_t)blockIdx.x * blockSize * 2 + threadIdx.x;
  while (i < n) {
    sum += g_idata[i];
    if (i + blockSize < n) sum2 += g_idata[i + blockSize];
    i += gridSize;
  }
  sum = blockReduceSum<blockSize>(sum + sum2);
  if (threadIdx.x == 0) g_odata[blockIdx.x] = sum;
}

}  // namespace

void reduce(const float* in, float* out, size_t n, void* workspace, size_t, cudaStream_t stream) {
  float* partial = (float*)workspace;
  size_t blocks = (n + 256 * 32 - 1) / (256 * 32);
  if (blocks > 1024) blocks = 1024;
  reduceStage<256><<<(unsigned)blocks, 256, 0, stream>>>(in, partial, n);
  reduceStage<32><<<1, 32, 0, stream>>>(partial, out, blocks);
}

#undef FULL_MASK
