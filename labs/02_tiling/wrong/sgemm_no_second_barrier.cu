// replaces: sgemm.cu; fails: sgemm/correct; backend: cpu
// No barrier after the tiles are used: a fast warp overwrites them while a slow one still reads.
#include "tiling.hpp"

constexpr int kTile = 32;

// a: m x k, b: k x n, c: m x n, row-major.
__global__ void __launch_bounds__(kTile* kTile)
    sgemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * kTile + x, row = static_cast<int>(blockIdx.y) * kTile + y;
  float sum = 0;
  for (int p0 = 0; p0 < k; p0 += kTile) {
    tile_a[y][x] = row < m && p0 + x < k ? a[static_cast<std::size_t>(row) * k + p0 + x] : 0;
    tile_b[y][x] = p0 + y < k && col < n ? b[static_cast<std::size_t>(p0 + y) * n + col] : 0;
    __syncthreads();  // the tiles are complete
    for (int p = 0; p < kTile; ++p) sum += tile_a[y][p] * tile_b[p][x];
  }
  if (row < m && col < n) c[static_cast<std::size_t>(row) * n + col] = sum;
}

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(kTile, kTile), grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  sgemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
