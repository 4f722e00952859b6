// Style: 64 x 64 tiles, a 4 x 4 block of registers a thread, float4 on both sides, pieces swizzled in shared memory.
#include "coalescing.hpp"

namespace {

constexpr int kEdge = 64, kPieces = kEdge / 4;

// in: rows x cols; out: cols x rows; both sizes multiples of 4
__global__ void __launch_bounds__(256)
    transpose_by_fours(const float4* __restrict__ in, float4* __restrict__ out, int rows, int cols) {
  __shared__ float4 tile[kEdge][kPieces];
  const int x = threadIdx.x % kPieces, y = threadIdx.x / kPieces;
  const int row0 = blockIdx.y * kEdge, col0 = blockIdx.x * kEdge;
  if (col0 + 4 * x < cols && row0 + 4 * y < rows) {
    const size_t pitch = cols / 4;
    const float4* from = in + (size_t)(row0 + 4 * y) * pitch + col0 / 4 + x;
    const float4 a = from[0], b = from[pitch], c = from[2 * pitch], d = from[3 * pitch];
    const int place = y ^ (x % 8);
    tile[4 * x + 0][place] = make_float4(a.x, b.x, c.x, d.x);
    tile[4 * x + 1][place] = make_float4(a.y, b.y, c.y, d.y);
    tile[4 * x + 2][place] = make_float4(a.z, b.z, c.z, d.z);
    tile[4 * x + 3][place] = make_float4(a.w, b.w, c.w, d.w);
  }
  __syncthreads();
  for (int c = threadIdx.x / kPieces; c < kEdge; c += 256 / kPieces) {
    const int q = threadIdx.x % kPieces;
    if (col0 + c < cols && row0 + 4 * q < rows)
      out[(size_t)(col0 + c) * (rows / 4) + row0 / 4 + q] = tile[c][q ^ (c / 4 % 8)];
  }
}

// in: rows x cols; out: cols x rows; any sizes
__global__ void transpose_by_ones(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[(size_t)y * cols + x];
  __syncthreads();
  if (u < rows && v < cols) out[(size_t)v * rows + u] = tile[threadIdx.x][threadIdx.y];
}

}  // namespace

void transpose(const float* in, float* out, int rows, int cols, void*, size_t, cudaStream_t stream) {
  const auto tiles = [&](int edge) { return dim3((cols + edge - 1) / edge, (rows + edge - 1) / edge); };
  if (rows % 4 == 0 && cols % 4 == 0 && tiles(kEdge).y < 65536)
    transpose_by_fours<<<tiles(kEdge), 256, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                         reinterpret_cast<float4*>(out), rows, cols);
  else
    transpose_by_ones<<<tiles(32), dim3(32, 32), 0, stream>>>(in, out, rows, cols);
}
