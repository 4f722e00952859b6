// Style: 4-byte cp.async into an XOR-swizzled square tile, so that no word is unused, by cooperative groups' barrier.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "coalescing.hpp"

namespace cg = cooperative_groups;

namespace {

struct SwizzledTile {
  float cells[32 * 32];
  __device__ float& operator()(int row, int col) { return cells[row * 32 + (col ^ row)]; }
};

// in: rows x cols; out: cols x rows
__global__ void transpose_swizzled(const float* in, float* out, int rows, int cols) {
  __shared__ SwizzledTile tile;
  const cg::thread_block block = cg::this_thread_block();
  const int lane = block.thread_rank() % 32, warp = block.thread_rank() / 32, warps = block.size() / 32;
  const int row0 = 32 * (int)blockIdx.y, col0 = 32 * (int)blockIdx.x;
  for (int r = warp; r < 32; r += warps)
    if (row0 + r < rows && col0 + lane < cols)
      __pipeline_memcpy_async(&tile(r, lane), in + (size_t)(row0 + r) * cols + (col0 + lane), 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  block.sync();
  for (int c = warp; c < 32; c += warps)
    if (col0 + c < cols && row0 + lane < rows) out[(size_t)(col0 + c) * rows + (row0 + lane)] = tile(lane, c);
}

}  // namespace

void transpose(const float* in, float* out, int rows, int cols, void*, size_t, cudaStream_t stream) {
  void* args[] = {&in, &out, &rows, &cols};
  cudaLaunchKernel((const void*)transpose_swizzled, dim3((cols + 31) / 32, (rows + 31) / 32), dim3(256), args, 0,
                   stream);
}
