// Style: cudaLaunchCooperativeKernel and grid.sync() between the blocks' sums and their sum, __device__ scratch array.
#include <cooperative_groups.h>

#include "warp_shuffle.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr int kMostBlocks = 264, kBlockSize = 256;
__device__ float g_block_sum[kMostBlocks];

__device__ float warp_total(float x) {
#pragma unroll
  for (int width = 32; width > 1; width /= 2) x += __shfl_down_sync(0xffffffffu, x, width / 2, width);
  return x;
}

// in: n floats; out: 1 float
__global__ void __launch_bounds__(kBlockSize) sum_whole_grid(const float* in, float* out, size_t n) {
  __shared__ float of_warp[kBlockSize / 32];
  cg::grid_group grid = cg::this_grid();
  float sum[4] = {0, 0, 0, 0};
  const size_t step = grid.size();
  size_t i = grid.thread_rank();
  for (; i + 3 * step < n; i += 4 * step)
#pragma unroll
    for (int u = 0; u < 4; ++u) sum[u] += in[i + u * step];
  for (; i < n; i += step) sum[0] += in[i];
  float mine = warp_total((sum[0] + sum[1]) + (sum[2] + sum[3]));
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = warp_total(lane < kBlockSize / 32 ? of_warp[lane] : 0.0f);
    if (lane == 0) g_block_sum[blockIdx.x] = mine;
  }
  grid.sync();
  if (blockIdx.x == 0 && warp == 0) {
    float all = 0;
    for (unsigned b = lane; b < gridDim.x; b += 32) all += g_block_sum[b];
    all = warp_total(all);
    if (lane == 0) *out = all;
  }
}

}  // namespace

void reduce(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const size_t need = (n + kBlockSize * 32 - 1) / (kBlockSize * 32);
  dim3 grid(static_cast<unsigned>(need < kMostBlocks ? need : kMostBlocks)), block(kBlockSize);
  void* args[] = {&in, &out, &n};
  cudaLaunchCooperativeKernel((void*)sum_whole_grid, grid, block, args, 0, stream);
}
