// A few more reads of shared memory than needed, without conflicts.
#include "coalescing.hpp"

// in: rows x cols, row-major; out: cols x rows, row-major. A block of 256 threads moves a 64 x 64 tile: 16 KiB in
// flight a block, which is what it takes to keep HBM busy; a 32 x 32 tile has a quarter of that.
constexpr int kTile = 64;
constexpr int kThreads = 256;

// rows and cols are multiples of 4, so that every row of `in` and `out` is made of whole float4. A thread reads a 4 x 4
// block of the tile, transposes it in registers, and passes on whole float4 of `out`: a quarter of the requests to shared
// memory that single floats take. Half a warp reads a row of the tile, 256 bytes, and later writes one of its columns.
__global__ void __launch_bounds__(kThreads) transpose_vector(const float* in, float* out, int rows, int cols) {
  constexpr int kQuads = kTile / 4;  // float4 in a row or column of the tile
  static_assert(kQuads * kQuads == kThreads);
  // Column c of the tile, its 16 quads in an order of its own: quad q lies at q ^ (c / 4 % 8). Eight lanes of 16 bytes
  // share a wavefront, and need all 32 banks between them. Down a column their quads are neighbours; across, in columns
  // 4 apart, it is the same quad, which would lie in the same 4 banks but for the XOR.
  __shared__ float4 tile[kTile][kQuads];
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
  const int x = static_cast<int>(threadIdx.x) % kQuads, y = static_cast<int>(threadIdx.x) / kQuads;

  float4 v[4] = {};
  if (row0 + 4 * y < rows && col0 + 4 * x < cols)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = *reinterpret_cast<const float4*>(in + static_cast<std::size_t>(row0 + 4 * y + k) * cols + col0 + 4 * x);
  const int place = y ^ (x % 8);
  tile[4 * x + 0][place] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
  tile[4 * x + 1][place] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
  tile[4 * x + 2][place] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
  tile[4 * x + 3][place] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
  __syncthreads();
#pragma unroll
  for (int c = y; c < kTile; c += kThreads / kQuads)
    if (col0 + c < cols && row0 + 4 * x < rows)
      *reinterpret_cast<float4*>(out + static_cast<std::size_t>(col0 + c) * rows + row0 + 4 * x) =
          tile[c][x ^ (c / 4 % 8)];
}

// Any rows and cols: one float a lane, and as much in flight.
__global__ void __launch_bounds__(kThreads) transpose_scalar(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const int col0 = static_cast<int>(blockIdx.x) * kTile, row0 = static_cast<int>(blockIdx.y) * kTile;
#pragma unroll
  for (int r = y; r < kTile; r += kThreads / kTile)
    if (row0 + r < rows && col0 + x < cols) tile[r][x] = in[static_cast<std::size_t>(row0 + r) * cols + col0 + x];
  __syncthreads();
#pragma unroll
  for (int c = y; c < kTile; c += kThreads / kTile)
    if (col0 + c < cols && row0 + x < rows )
      out[static_cast<std::size_t>(col0 + c) * rows + row0 + x] = tile[x][c];
}

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  if (rows % 4 == 0 && cols % 4 == 0)
    transpose_vector<<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
  else
    transpose_scalar<<<grid, kThreads, 0, stream>>>(in, out, rows, cols);
}
