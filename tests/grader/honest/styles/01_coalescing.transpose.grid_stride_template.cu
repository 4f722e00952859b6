// Style: template over tile and block rows, padding by one, a persistent grid of blocks that stride over tiles, 64-bit.
#include <cstdint>

#include "coalescing.hpp"

namespace {

template <int TILE_DIM, int BLOCK_ROWS>
// in: rows x cols; out: cols x rows
__global__ void __launch_bounds__(TILE_DIM* BLOCK_ROWS)
    transpose_tiles(const float* __restrict__ idata, float* __restrict__ odata, int64_t rows, int64_t cols) {
  static_assert(TILE_DIM % BLOCK_ROWS == 0);
  __shared__ float tile[TILE_DIM][TILE_DIM + 1];
  const int64_t tiles_x = (cols + TILE_DIM - 1) / TILE_DIM;
  const int64_t tiles_y = (rows + TILE_DIM - 1) / TILE_DIM;
  for (int64_t t = blockIdx.x; t < tiles_x * tiles_y; t += gridDim.x) {
    const int64_t tx = t % tiles_x, ty = t / tiles_x;
    int64_t x = tx * TILE_DIM + threadIdx.x;
    int64_t y = ty * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
      if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * cols + x];
    __syncthreads();
    x = ty * TILE_DIM + threadIdx.x;
    y = tx * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
      if (x < rows && y + j < cols) odata[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
    __syncthreads();
  }
}

}  // namespace

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int64_t tiles = ((int64_t)rows + 31) / 32 * (((int64_t)cols + 31) / 32);
  const int grid = tiles > 1056 ? 1056 : (int)tiles;
  transpose_tiles<32, 8><<<grid, dim3(32, 8), 0, stream>>>(in, out, rows, cols);
}
