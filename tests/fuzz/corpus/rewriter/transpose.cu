// Lab 01, task `transpose`: out[c][r] = in[r][c].
//
// Write the kernel. A direct transpose reads rows and writes columns: get it right first, look at its sectors, then
// pass a tile through shared memory. Run: ./ridge check 01 --task transpose
#include "coalescing.hpp"

// TASK(transpose)
// in: rows x cols, row-major; out: cols x rows, row-major. A block moves a 64 x 64 tile through shared memory with
// 256 threads: 16 KiB in flight a block, which is what it takes to keep HBM busy; a 32 x 32 tile has a quarter of that.
constexpr int kTile = 64;
constexpr int kThreads = 256;

// Where element (r, c) of the tile lies, so that neither side has bank conflicts. The 16 lanes of a half warp are 4 words
// apart along a row: two of them would meet in each bank, and one word of padding behind column 31 parts them. Down a
// column they are 4 rows apart: such rows are neighbours in memory, with a pitch of 66 = 2 mod 32.
__device__ int tile_index(int r, int c) { return (r / 4 + r % 4 * 16) * (kTile + 2) + c + c / 32; }

// rows and cols are multiples of 4, so that every row of `in` and `out` is made of whole float4. Half a warp reads a row
// of the tile, 256 bytes, and later writes one of its columns.
__global__ void __launch_bounds__(kThreads) transpose_vector(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile * (kTile + 2)];
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32, half = static_cast<int>(threadIdx.x) / 16 % 2;
  const int quad = static_cast<int>(threadIdx.x) % 16 * 4;

#pragma unroll
  for (int i = warp; i < kTile / 2; i += kThreads / 32) {
    const int r = i / 4 * 8 + i % 4 + half * 4, c = quad;  // the two rows of a warp are 4 apart
    if (row0 + r < rows && col0 + c < cols) {
      const float4 v = *reinterpret_cast<const float4*>(in + static_cast<std::size_t>(row0 + r) * cols + col0 + c);
      tile[tile_index(r, c)] = v.x;
      tile[tile_index(r, c + 1)] = v.y;
      tile[tile_index(r, c + 2)] = v.z;
      tile[tile_index(r, c + 3)] = v.w;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = warp; i < kTile / 2; i += kThreads / 32) {
    const int c = i * 2 + half, r = quad;
    if (row0 + r < rows && col0 + c < cols)
      *reinterpret_cast<float4*>(out + static_cast<std::size_t>(col0 + c) * rows + row0 + r) = make_float4(
          tile[tile_index(r, c)], tile[tile_index(r + 1, c)], tile[tile_index(r + 2, c)], tile[tile_index(r + 3, c)]);
  }
}

// Any rows and cols: a 32 x 32 tile, one float a lane.
__global__ void __launch_bounds__(kThreads) transpose_scalar(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  const int col0 = static_cast<int>(blockIdx.x) * 32, row0 = static_cast<int>(blockIdx.y) * 32;
  for (int r = y; r < 32; r += kThreads / 32)
    if (row0 + r < rows && col0 + x < cols) tile[r][x] = in[static_cast<std::size_t>(row0 + r) * cols + col0 + x];
  __syncthreads();
  for (int c = y; c < 32; c += kThreads / 32)
    if (col0 + c < cols && row0 + x < rows) out[static_cast<std::size_t>(col0 + c) * rows + row0 + x] = tile[x][c];
}

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const bool vector = rows % 4 == 0 && cols % 4 == 0;
  const int tile = vector ? kTile : 32;
  const dim3 grid((cols + tile - 1) / tile, (rows + tile - 1) / tile);
  if (vector)
    transpose_vector<<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
  else
    transpose_scalar<<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
}
// END(transpose)
