// Lab 02, task `sgemm_shared`: C = A B in fp32, with tiles of A and B in shared memory.
//
// The kernel below has the shape of the naive answer and multiplies nothing yet. Make it right first; then let a block
// load a tile of A and one of B for all its threads. Run: ./ridge check 02 --task sgemm_shared
#include "tiling.hpp"

// TASK(sgemm_shared)
namespace {  // names of this file alone: the next tasks' files may use the same ones

constexpr int kTile = 32;

// a: m x k, b: k x n, c: m x n, row-major. 1024 threads, one for each element of the block's 32 x 32 tile of C. An
// element of A or B that is loaded serves 32 threads: 1/16 of a float loaded for each product instead of 2.
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
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) c[static_cast<std::size_t>(row) * n + col] = sum;
}

}  // namespace

void sgemm_shared(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                  cudaStream_t stream) {
  const dim3 block(kTile, kTile), grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  sgemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
// END(sgemm_shared)
