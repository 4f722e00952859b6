// Lab 01, task `transpose`: out[c][r] = in[r][c].
//
// Write the kernel. A direct transpose reads rows and writes columns: get it right first, look at its sectors, then
// pass a tile through shared memory. Run: ./ridge check 01 --task transpose
#include "coalescing.hpp"

// TASK(transpose)
// in: rows x cols, row-major; out: cols x rows, row-major. A block moves a 64 x 64 tile through shared memory with
// 256 threads: 16 KiB in flight a block, which is what it takes to keep HBM busy (32 x 32 tiles reached half of this).
constexpr int kTile = 64;
constexpr int kPitch = kTile + 1;  // 65 = 1 mod 32: one step down a column is one bank further
constexpr int kThreads = 256;

// rows and cols are multiples of 4, so that every row of `in` and `out` is made of whole float4.
// A warp takes patches of 4 rows x 8 float4: reading, 4 segments of 128 bytes; in shared memory, lane (r, q) stores to
// bank r + 4 q + const, which are 32 different ones; the way back is the same with rows and columns exchanged.
__global__ void __launch_bounds__(kThreads) transpose_vector(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile * kPitch];
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

#pragma unroll
  for (int patch = warp; patch < kTile / 4 * 2; patch += kThreads / 32) {
    const int r = patch / 2 * 4 + lane / 8, c = patch % 2 * 32 + lane % 8 * 4;
    if (row0 + r < rows && col0 + c < cols) {
      const float4 v = *reinterpret_cast<const float4*>(in + static_cast<std::size_t>(row0 + r) * cols + col0 + c);
      float* to = tile + r * kPitch + c;
      to[0] = v.x;
      to[1] = v.y;
      to[2] = v.z;
      to[3] = v.w;
    }
  }
  __syncthreads();
#pragma unroll
  for (int patch = warp; patch < kTile / 4 * 2; patch += kThreads / 32) {
    const int c = patch / 2 * 4 + lane / 8, r = patch % 2 * 32 + lane % 8 * 4;
    if (row0 + r < rows && col0 + c < cols) {
      const float* from = tile + r * kPitch + c;
      *reinterpret_cast<float4*>(out + static_cast<std::size_t>(col0 + c) * rows + row0 + r) =
          make_float4(from[0], from[kPitch], from[2 * kPitch], from[3 * kPitch]);
    }
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
