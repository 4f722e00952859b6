// Style: a warp fetches its rows into shared memory with cooperative_groups::memcpy_async, then writes them as one run.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "coalescing.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr int kWarps = 4, kRows = 8, kChunk = 128;  // floats of a row that a warp holds at a time

// in: table x width; index: rows; out: rows x width
__global__ void gather_async(const float* in, const int* index, float* out, int rows, int width) {
  __shared__ alignas(16) float stage[kWarps][kRows][kChunk];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int w = static_cast<int>(warp.meta_group_rank()), lane = static_cast<int>(warp.thread_rank());
  const int first = (static_cast<int>(blockIdx.x) * kWarps + w) * kRows;
  if (first >= rows) return;
  const int count = min(kRows, rows - first);
  const int mine = lane < count ? index[first + lane] : 0;
  for (int c0 = 0; c0 < width; c0 += kChunk) {
    const int cols = min(kChunk, width - c0);
    for (int r = 0; r < count; ++r) {
      const std::size_t row = static_cast<std::size_t>(warp.shfl(mine, r));
      cg::memcpy_async(warp, stage[w][r], in + row * width + c0, sizeof(float) * cols);
    }
    cg::wait(warp);
    for (int r = 0; r < count; ++r)
      for (int c = lane; c < cols; c += 32) out[static_cast<std::size_t>(first + r) * width + c0 + c] = stage[w][r][c];
    warp.sync();
  }
}

}  // namespace

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  const unsigned per_block = kWarps * kRows;
  gather_async<<<(static_cast<unsigned>(rows) + per_block - 1) / per_block, kWarps * 32, 0, stream>>>(in, index, out,
                                                                                                      rows, width);
}
