#include "tiling.hpp"
// One warp computes a 128 x 128 tile of C: 32 x 16 elements a lane.
constexpr int kTile = 128, kStep = 16, kRowsOfLane = 32, kColsOfLane = 16;
// a: m x k, b: k x n, c: m x n
__global__ void sgemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kStep][kTile + 2];
  __shared__ __align__(16) float tile_b[kStep][kTile];
  const int lane = static_cast<int>(threadIdx.x), lane_m = lane % 4, lane_n = lane / 4;
  const int row0 = static_cast<int>(blockIdx.y) * kTile, col0 = static_cast<int>(blockIdx.x) * kTile;
  float sum[kRowsOfLane][kColsOfLane] = {};
  for (int p0 = 0; p0 < k; p0 += kStep) {
    __syncthreads();
    for (int r = lane / 16; r < kTile; r += 2) {
      const int row = row0 + r, p = p0 + lane % 16;
      tile_a[lane % 16][r] = row < m && p < k ? a[static_cast<std::size_t>(row) * k + p] : 0;
    }
    for (int p = 0; p < kStep; ++p)
      for (int s = lane; s < kTile; s += 32)
        tile_b[p][s] = p0 + p < k && col0 + s < n ? b[static_cast<std::size_t>(p0 + p) * n + col0 + s] : 0;
    __syncthreads();
    for (int p = 0; p < kStep; ++p) {
      float part[kColsOfLane];
      for (int j = 0; j < kColsOfLane; j += 4) {
        const float4 v = *reinterpret_cast<const float4*>(&tile_b[p][j * 8 + lane_n * 4]);
        part[j] = v.x, part[j + 1] = v.y, part[j + 2] = v.z, part[j + 3] = v.w;
      }
#pragma unroll
      for (int i = 0; i < kRowsOfLane; ++i) {
        const float factor = tile_a[p][i * 4 + lane_m];
#pragma unroll
        for (int j = 0; j < kColsOfLane; ++j) sum[i][j] += factor * part[j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRowsOfLane; ++i)
#pragma unroll
    for (int j = 0; j < kColsOfLane; j += 4) {
      const int row = row0 + i * 4 + lane_m, col = col0 + j / 4 * 32 + lane_n * 4;
      if (row >= m) continue;
      float* const to = c + static_cast<std::size_t>(row) * n + col;
      if (n % 4 == 0 && col + 3 < n)
        *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      else
        for (int k = 0; k < 4; ++k)
          if (col + k < n) to[k] = sum[i][j + k];
    }
}
void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  sgemm_kernel<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), 32, 0, stream>>>(a, b, c, m, n, k);
}
