// replaces: sgemm.cu; task: sgemm; step: 5; idea: A lies transposed in shared memory, and all accesses take 16 bytes
#include "tiling.hpp"

constexpr int kTile = 128, kStep = 8, kEach = 8, kGrid = kTile / kEach, kThreads = kGrid * kGrid;

// Four neighbours of a row of a rows x cols matrix; 0 beyond its edges. Whole: cols is a multiple of 4.
template <bool kWhole>
__device__ float4 load4(const float* from, int row, int col, int rows, int cols) {
  if (row >= rows || col >= cols) return make_float4(0, 0, 0, 0);
  const float* at = from + static_cast<std::size_t>(row) * cols + col;
  if (kWhole) return *reinterpret_cast<const float4*>(at);
  return make_float4(at[0], col + 1 < cols ? at[1] : 0, col + 2 < cols ? at[2] : 0, col + 3 < cols ? at[3] : 0);
}

// a: m x k, b: k x n, c: m x n, row-major. Each thread loads four floats of A and four of B a step. Its 8 rows are two
// groups of 4 neighbours, 64 apart, and so are its columns: 4 reads of 16 bytes for 64 products instead of 16 of 4.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    sgemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float tile_a[kStep][kTile + 4], tile_b[kStep][kTile];
  const int thread = static_cast<int>(threadIdx.x), x = thread % kGrid * 4, y = thread / kGrid * 4;
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
  const int row_a = thread / 2, p_a = thread % 2 * 4, p_b = thread / 32, col_b = thread % 32 * 4;
  float sum[kEach][kEach] = {};
  for (int p0 = 0; p0 < k; p0 += kStep) {
    const float4 from_a = load4<kWhole>(a, row0 + row_a, p0 + p_a, m, k);
    tile_a[p_a][row_a] = from_a.x;
    tile_a[p_a + 1][row_a] = from_a.y;
    tile_a[p_a + 2][row_a] = from_a.z;
    tile_a[p_a + 3][row_a] = from_a.w;
    *reinterpret_cast<float4*>(&tile_b[p_b][col_b]) = load4<kWhole>(b, p0 + p_b, col0 + col_b, k, n);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kStep; ++p) {
      float4 part_a[2], part_b[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        part_a[h] = *reinterpret_cast<const float4*>(&tile_a[p][y + h * kTile / 2]);
        part_b[h] = *reinterpret_cast<const float4*>(&tile_b[p][x + h * kTile / 2]);
      }
      const float left[kEach] = {part_a[0].x, part_a[0].y, part_a[0].z, part_a[0].w,
                                 part_a[1].x, part_a[1].y, part_a[1].z, part_a[1].w};
      const float right[kEach] = {part_b[0].x, part_b[0].y, part_b[0].z, part_b[0].w,
                                  part_b[1].x, part_b[1].y, part_b[1].z, part_b[1].w};
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; j += 4) {
      const int row = row0 + y + i / 4 * kTile / 2 + i % 4, col = col0 + x + j / 4 * kTile / 2;
      if (row >= m || col >= n) continue;
      float* to = c + static_cast<std::size_t>(row) * n + col;
      if (kWhole) {
        *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (col + v < n) to[v] = sum[i][j + v];
      }
    }
}

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (n % 4 == 0 && k % 4 == 0)
    sgemm_kernel<true><<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
  else
    sgemm_kernel<false><<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
}
