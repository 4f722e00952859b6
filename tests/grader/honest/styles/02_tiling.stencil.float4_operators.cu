// Style: cp.async with zero fill into a float4 tile, 4 x 8 cells a thread, a small vector class with operators.
#include <cuda_pipeline.h>

#include "tiling.hpp"

namespace {

constexpr int kTileX = 128, kTileY = 32, kThreadRows = 8;
constexpr int kPitch = kTileX + 8, kTileRows = kTileY + 2 * kRadius;

struct Vec4 {
  float x, y, z, w;
};
__device__ inline Vec4 operator*(float s, const Vec4& v) { return {s * v.x, s * v.y, s * v.z, s * v.w}; }
__device__ inline Vec4& operator+=(Vec4& a, const Vec4& b) {
  a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
  return a;
}
__device__ inline Vec4 load(const float* p) {
  const float4 v = *reinterpret_cast<const float4*>(p);
  return {v.x, v.y, v.z, v.w};
}

template <bool Aligned>
__device__ void fill(float (*tile)[kPitch], const float* in, int rows, int cols, int x0, int y0) {
  constexpr int kWidth = Aligned ? 4 : 1;
  for (int r = threadIdx.y; r < kTileRows; r += blockDim.y) {
    const int y = y0 + r - kRadius;
    for (int p = threadIdx.x; p < kPitch / kWidth; p += 32) {
      const int x = x0 - 4 + p * kWidth;
      const bool inside = y >= 0 && y < rows && x >= 0 && x < cols;
      const float* from = inside ? in + static_cast<std::size_t>(y) * cols + x : in;
      __pipeline_memcpy_async(&tile[r][p * kWidth], from, 4 * kWidth, inside ? 0 : 4 * kWidth);
    }
  }
}

// in, out: rows x cols; a block computes 32 x 128, a thread 8 x 4. Tile: rows from -2, columns from -4.
template <bool Aligned>
__global__ void __launch_bounds__(128) stencil_vec(const float* in, float* out, int rows, int cols, int tiles_x) {
  __shared__ alignas(16) float tile[kTileRows][kPitch];
  const int x0 = blockIdx.x % tiles_x * kTileX, y0 = blockIdx.x / tiles_x * kTileY;
  fill<Aligned>(tile, in, rows, cols, x0, y0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  Vec4 acc[kThreadRows] = {};
  const int first = threadIdx.y * kThreadRows, col = 4 * threadIdx.x;
#pragma unroll
  for (int r = 0; r < kThreadRows + 2 * kRadius; ++r) {
    const Vec4 l = load(&tile[first + r][col]), m = load(&tile[first + r][col + 4]),
               h = load(&tile[first + r][col + 8]);
    const Vec4 shifted[kSide] = {
        {l.z, l.w, m.x, m.y}, {l.w, m.x, m.y, m.z}, m, {m.y, m.z, m.w, h.x}, {m.z, m.w, h.x, h.y}};
#pragma unroll
    for (int dy = 0; dy < kSide; ++dy)
      if (const int t = r - dy; t >= 0 && t < kThreadRows) {
#pragma unroll
        for (int dx = 0; dx < kSide; ++dx) acc[t] += weight(dy, dx) * shifted[dx];
      }
  }
#pragma unroll
  for (int t = 0; t < kThreadRows; ++t) {
    const int y = y0 + first + t, x = x0 + col;
    if (y >= rows) break;
    float* to = out + static_cast<std::size_t>(y) * cols + x;
    if constexpr (Aligned) {
      if (x < cols) *reinterpret_cast<float4*>(to) = make_float4(acc[t].x, acc[t].y, acc[t].z, acc[t].w);
    } else {
      const float v[4] = {acc[t].x, acc[t].y, acc[t].z, acc[t].w};
      for (int j = 0; j < 4; ++j)
        if (x + j < cols) to[j] = v[j];
    }
  }
}

}  // namespace

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int tiles_x = (cols + kTileX - 1) / kTileX, tiles_y = (rows + kTileY - 1) / kTileY;
  const dim3 block(32, kTileY / kThreadRows);
  auto* kernel = cols % 4 == 0 ? stencil_vec<true> : stencil_vec<false>;
  kernel<<<tiles_x * tiles_y, block, 0, stream>>>(in, out, rows, cols, tiles_x);
}
