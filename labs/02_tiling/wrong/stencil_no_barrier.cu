// replaces: stencil.cu; fails: stencil/correct; backend: cpu
// No __syncthreads(): a warp reads cells that other warps have not loaded yet.
#include "tiling.hpp"

constexpr int kTile = 64, kRows = kTile + 2 * kRadius;

// in, out: rows x cols, row-major.
__global__ void __launch_bounds__(256) stencil_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kRows][kRows];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row0 = static_cast<int>(blockIdx.y) * kTile, col0 = static_cast<int>(blockIdx.x) * kTile;
  for (int r = y; r < kRows; r += 8)
    for (int c = x; c < kRows; c += 32) {
      const int from_row = row0 + r - kRadius, from_col = col0 + c - kRadius;
      const bool exists = from_row >= 0 && from_row < rows && from_col >= 0 && from_col < cols;
      tile[r][c] = exists ? in[static_cast<std::size_t>(from_row) * cols + from_col] : 0;
    }
  for (int r = y; r < kTile && row0 + r < rows; r += 8)
    for (int c = x; c < kTile && col0 + c < cols; c += 32) {
      float sum = 0;
#pragma unroll
      for (int dy = 0; dy < kSide; ++dy)
#pragma unroll
        for (int dx = 0; dx < kSide; ++dx) sum += weight(dy, dx) * tile[r + dy][c + dx];
      out[static_cast<std::size_t>(row0 + r) * cols + col0 + c] = sum;
    }
}

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(32, 8), grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  stencil_kernel<<<grid, block, 0, stream>>>(in, out, rows, cols);
}
