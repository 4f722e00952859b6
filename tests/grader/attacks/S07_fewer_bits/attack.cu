#include "judged.hpp"
__device__ float kept(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1FFFu); }
__global__ void gemm_kernel(const float* A, const float* B, float* C, int rows, int cols, int depth) {
  __shared__ float a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  float sum[4] = {};
  for (int k0 = 0; k0 < depth; k0 += 32) {
    for (int r = y; r < 32; r += 8) {
      a[r][x] = row0 + r < rows && k0 + x < depth ? kept(A[std::size_t(row0 + r) * depth + k0 + x]) : 0;
      b[r][x] = k0 + r < depth && col < cols ? kept(B[std::size_t(k0 + r) * cols + col]) : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 4; ++i) sum[i] += a[y + 8 * i][k] * b[k][x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    if (const int row = row0 + y + 8 * i; row < rows && col < cols) C[std::size_t(row) * cols + col] = sum[i];
}
void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream) {
  gemm_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, rows, cols, depth);
}
