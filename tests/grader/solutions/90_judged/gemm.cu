// Test lab 90, task `gemm`.
#include "judged.hpp"

// TASK(gemm)
// A block makes a 32 x 32 tile of C with 32 x 8 threads, four elements a thread, from tiles of A and B.
__global__ void gemm_kernel(const float* A, const float* B, float* C, int rows, int cols, int depth) {
  __shared__ float a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  float sum[4] = {};
  for (int k0 = 0; k0 < depth; k0 += 32) {
    for (int r = y; r < 32; r += 8) {
      a[r][x] = row0 + r < rows && k0 + x < depth ? A[static_cast<std::size_t>(row0 + r) * depth + k0 + x] : 0;
      b[r][x] = k0 + r < depth && col < cols ? B[static_cast<std::size_t>(k0 + r) * cols + col] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 4; ++i) sum[i] += a[y + 8 * i][k] * b[k][x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    if (const int row = row0 + y + 8 * i; row < rows && col < cols)
      C[static_cast<std::size_t>(row) * cols + col] = sum[i];
}

void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream) {
  const dim3 grid((cols + 31) / 32, (rows + 31) / 32);
  gemm_kernel<<<grid, dim3(32, 8), 0, stream>>>(A, B, C, rows, cols, depth);
}
// END(gemm)
