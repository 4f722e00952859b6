#include "coalescing.hpp"
// Calls that stay calls, a local array with an index, recursion: a stack that is used as it should be.
__device__ __attribute__((noinline)) int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1) % 1000; }
__device__ __attribute__((noinline)) float pick(const float* v, int k) { return v[k]; }
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  float own[4] = {};
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col0 = static_cast<int>(blockIdx.x) * 32, row0 = static_cast<int>(blockIdx.y) * 32;
  for (int k = 0; k < depth(4); ++k)
    if (row0 + y + 8 * k < rows && col0 + x < cols) own[k] = in[std::size_t(row0 + y + 8 * k) * cols + col0 + x];
  for (int k = 0; k < 4; ++k) tile[y + 8 * k][x] = pick(own, k);
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    if (col0 + y + 8 * k < cols && row0 + x < rows)
      out[std::size_t(col0 + y + 8 * k) * rows + row0 + x] = tile[x][y + 8 * k];
}
void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
}
