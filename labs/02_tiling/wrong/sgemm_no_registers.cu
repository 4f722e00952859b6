// replaces: sgemm.cu; fails: sgemm/reuse; backend: cpu
// 64 x 64 tiles in shared memory, but only 2 x 2 elements of C a thread: one read for each product.
#include "tiling.hpp"

constexpr int kTile = 64, kStep = 32;

// a: m x k, b: k x n, c: m x n, row-major.
__global__ void __launch_bounds__(1024) sgemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kStep], tile_b[kStep][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * kTile + x, row = static_cast<int>(blockIdx.y) * kTile + y;
  float sum[2][2] = {};
  for (int p0 = 0; p0 < k; p0 += kStep) {
    for (int h = 0; h < 2; ++h) {
      const int r = row + 32 * h, j = col + 32 * h;
      tile_a[y + 32 * h][x] = r < m && p0 + x < k ? a[static_cast<std::size_t>(r) * k + p0 + x] : 0;
      tile_b[y][x + 32 * h] = p0 + y < k && j < n ? b[static_cast<std::size_t>(p0 + y) * n + j] : 0;
    }
    __syncthreads();
    for (int p = 0; p < kStep; ++p)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] += tile_a[y + 32 * i][p] * tile_b[p][x + 32 * j];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (row + 32 * i < m && col + 32 * j < n)
        c[static_cast<std::size_t>(row + 32 * i) * n + col + 32 * j] = sum[i][j];
}

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(32, 32), grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  sgemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
