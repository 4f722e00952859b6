// replaces: stencil.cu; fails: stencil/correct; backend: cpu
// Beyond an edge the nearest cell counts, not 0.
#include "tiling.hpp"

constexpr int kTile = 64, kRows = kTile + 2 * kRadius, kWalk = 16;

// in, out: rows x cols, row-major.
__global__ void __launch_bounds__(256) stencil_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kRows][kRows];
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int row0 = static_cast<int>(blockIdx.y) * kTile, col0 = static_cast<int>(blockIdx.x) * kTile;
  for (int r = warp; r < kRows; r += 8)
    for (int c = lane; c < kRows; c += 32) {
      const int from_row = row0 + r - kRadius, from_col = col0 + c - kRadius;
      const int near_row = min(max(from_row, 0), rows - 1), near_col = min(max(from_col, 0), cols - 1);
      tile[r][c] = in[static_cast<std::size_t>(near_row) * cols + near_col];
    }
  __syncthreads();
  const int x = warp % 2 * 32 + lane, y = warp / 2 * kWalk;
  float sum[kWalk] = {};
#pragma unroll
  for (int i = 0; i < kWalk + 2 * kRadius; ++i) {
    float cell[kSide];
#pragma unroll
    for (int dx = 0; dx < kSide; ++dx) cell[dx] = tile[y + i][x + dx];
#pragma unroll
    for (int dy = 0; dy < kSide; ++dy)
#pragma unroll
      for (int dx = 0; dx < kSide; ++dx)
        if (i >= dy && i - dy < kWalk) sum[i - dy] += weight(dy, dx) * cell[dx];
    const int r = i - 2 * kRadius;  // complete now
    if (r >= 0 && row0 + y + r < rows && col0 + x < cols)
      out[static_cast<std::size_t>(row0 + y + r) * cols + col0 + x] = sum[r];
  }
}

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(32, 8), grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  stencil_kernel<<<grid, block, 0, stream>>>(in, out, rows, cols);
}
