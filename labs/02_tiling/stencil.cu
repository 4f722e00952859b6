// Lab 02, task `stencil`: each cell becomes the weighted sum of its 5 x 5 neighbourhood.
//
// The kernel below has the shape of the answer, and computes the middle weight only. Add the neighbours, get the edges
// right, and count the sectors: every cell is now loaded 25 times. Run: ./ridge check 02 --task stencil
#include "tiling.hpp"

// TASK(stencil)
// in, out: rows x cols, row-major. One thread computes one cell; a warp computes 32 neighbours of a row.
__global__ void stencil_kernel(const float* in, float* out, int rows, int cols) {
  const int x = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * 8 + static_cast<int>(threadIdx.y);
  if (x >= cols || y >= rows) return;
  // TODO: all 25 neighbours; cells outside of the grid count as 0. Then load a tile and its halo into shared memory.
  out[static_cast<std::size_t>(y) * cols + x] = weight(kRadius, kRadius) * in[static_cast<std::size_t>(y) * cols + x];
}

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  stencil_kernel<<<grid, block, 0, stream>>>(in, out, rows, cols);
}
// END(stencil)
