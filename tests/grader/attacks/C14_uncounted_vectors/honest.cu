#include "coalescing.hpp"
// float4 is CUDA's own vector, and counted.
__global__ void __launch_bounds__(256) transpose_vector(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int row0 = static_cast<int>(blockIdx.y) * 32, col0 = static_cast<int>(blockIdx.x) * 32;
  const int r = static_cast<int>(threadIdx.x) / 8, q = static_cast<int>(threadIdx.x) % 8 * 4;
  if (row0 + r < rows)
    for (int k = 0; k < 4; ++k)
      if (col0 + q + k < cols && cols % 4 != 0) tile[r][q + k] = in[std::size_t(row0 + r) * cols + col0 + q + k];
  if (row0 + r < rows && col0 + q < cols && cols % 4 == 0) {
    const float4 v = *reinterpret_cast<const float4*>(in + std::size_t(row0 + r) * cols + col0 + q);
    tile[r][q] = v.x, tile[r][q + 1] = v.y, tile[r][q + 2] = v.z, tile[r][q + 3] = v.w;
  }
  __syncthreads();
  const int x = static_cast<int>(threadIdx.x) % 32;
  for (int c = static_cast<int>(threadIdx.x) / 32; c < 32; c += 8)
    if (col0 + c < cols && row0 + x < rows) out[std::size_t(col0 + c) * rows + row0 + x] = tile[x][c];
}
void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  transpose_vector<<<dim3((cols + 31) / 32, (rows + 31) / 32), 256, 0, stream>>>(in, out, rows, cols);
}
