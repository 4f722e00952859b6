// Weights in constant memory, which all lanes read at one address.
#include "tiling.hpp"

#include <cuda_pipeline.h>

// A block computes kTileY x kTileX cells with 8 warps. A warp is as wide as the tile, 4 cells a lane, and walks down
// kWalk rows of it. In front of column 0 of the tile lie 4 cells of halo, of which 2 are needed: so that the 16 bytes
// that a lane takes at once are aligned in both memories.
constexpr int kTileX = 128, kTileY = 64;
constexpr int kThreads = 256, kWarps = kThreads / 32, kWalk = kTileY / kWarps;
constexpr int kRows = kTileY + 2 * kRadius;
constexpr int kPad = 4;
constexpr int kPitch = kTileX + 2 * kPad;

__constant__ float weights[kSide][kSide] = {{3 / 512.0f, 7 / 512.0f, 12 / 512.0f, 5 / 512.0f, 2 / 512.0f},
                                            {8 / 512.0f, 21 / 512.0f, 33 / 512.0f, 17 / 512.0f, 6 / 512.0f},
                                            {11 / 512.0f, 37 / 512.0f, 64 / 512.0f, 29 / 512.0f, 9 / 512.0f},
                                            {4 / 512.0f, 19 / 512.0f, 27 / 512.0f, 23 / 512.0f, 10 / 512.0f},
                                            {1 / 512.0f, 13 / 512.0f, 15 / 512.0f, 14 / 512.0f, 16 / 512.0f}};

// Fills tile[kRows][kPitch] with the cells from row row0 and column col0 on; 0 where there is no cell. kVector is
// 4 where cols is a multiple of 4: no group of 4 cells crosses an edge then.
template <int kVector>
__device__ void load_tile(float (*tile)[kPitch], const float* in, int row0, int col0, int rows, int cols) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int r = warp; r < kRows; r += kWarps) {
    const float* from = in + static_cast<std::ptrdiff_t>(row0 + r) * cols + col0;
    const bool row_exists = row0 + r >= 0 && row0 + r < rows;
    auto load = [&](int s) {
      if (row_exists && col0 + s >= 0 && col0 + s < cols)
        __pipeline_memcpy_async(&tile[r][s], from + s, kVector * sizeof(float));
      else if (kVector == 4)
        *reinterpret_cast<float4*>(&tile[r][s]) = make_float4(0, 0, 0, 0);
      else
        tile[r][s] = 0;
    };
    // First the tile's own columns, which begin at a sector; then the halo at both sides.
    for (int s = kPad + lane * kVector; s < kPad + kTileX; s += 32 * kVector) load(s);
    if (kVector == 4 && lane < 2) load(lane * (kPad + kTileX));
    if (kVector == 1 && lane < 2 * kPad) load(lane < kPad ? lane : kTileX + lane);
  }
  __pipeline_commit();
}

// in, out: rows x cols, row-major. Each row of the tile is read once by a warp: a lane takes the 8 cells that its 4
// need and adds them to the five rows of results that they belong to. A result is complete, and stored, four rows
// later.
template <int kVector>
__global__ void __launch_bounds__(kThreads, 5) stencil_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ __align__(16) float tile[kRows][kPitch];
  const int row0 = static_cast<int>(blockIdx.y) * kTileY, col0 = static_cast<int>(blockIdx.x) * kTileX;
  load_tile<kVector>(tile, in, row0 - kRadius, col0 - kPad, rows, cols);
  __pipeline_wait_prior(0);
  __syncthreads();

  const int x = static_cast<int>(threadIdx.x) % 32 * 4, y = static_cast<int>(threadIdx.x) / 32 * kWalk;
  float sum[kWalk][4] = {};
#pragma unroll
  for (int i = 0; i < kWalk + 2 * kRadius; ++i) {
    const float4 left = *reinterpret_cast<const float4*>(&tile[y + i][x]);
    const float4 mid = *reinterpret_cast<const float4*>(&tile[y + i][x + 4]);
    const float4 right = *reinterpret_cast<const float4*>(&tile[y + i][x + 8]);
    const float cell[8] = {left.z, left.w, mid.x, mid.y, mid.z, mid.w, right.x, right.y};
#pragma unroll
    for (int dy = 0; dy < kSide; ++dy) {
      const int r = i - dy;  // the row of results for which this is row dy of the neighbourhood
      if (r < 0 || r >= kWalk) continue;
#pragma unroll
      for (int dx = 0; dx < kSide; ++dx)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[r][j] += weights[dy][dx] * cell[j + dx];
    }
    const int r = i - 2 * kRadius;
    if (r < 0 || row0 + y + r >= rows) continue;
    float* to = out + static_cast<std::size_t>(row0 + y + r) * cols + col0 + x;
    if (kVector == 4) {
      if (col0 + x < cols) *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (col0 + x + j < cols) to[j] = sum[r][j];
    }
  }
}

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 grid((cols + kTileX - 1) / kTileX, (rows + kTileY - 1) / kTileY);
  if (cols % 4 == 0)
    stencil_kernel<4><<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
  else
    stencil_kernel<1><<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
}
