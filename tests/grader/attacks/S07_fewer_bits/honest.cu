#include "judged.hpp"
// Sums in two halves and in another order: other roundings, and as good.
__global__ void gemm_kernel(const float* A, const float* B, float* C, int rows, int cols, int depth) {
  __shared__ float a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  float even[4] = {}, odd[4] = {};
  for (int k0 = 0; k0 < depth; k0 += 32) {
    for (int r = y; r < 32; r += 8) {
      a[r][x] = row0 + r < rows && k0 + x < depth ? A[std::size_t(row0 + r) * depth + k0 + x] : 0;
      b[r][x] = k0 + r < depth && col < cols ? B[std::size_t(k0 + r) * cols + col] : 0;
    }
    __syncthreads();
    for (int k = 30; k >= 0; k -= 2)
      for (int i = 0; i < 4; ++i) {
        even[i] = fmaf(a[y + 8 * i][k], b[k][x], even[i]);
        odd[i] = fmaf(a[y + 8 * i][k + 1], b[k + 1][x], odd[i]);
      }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    if (const int row = row0 + y + 8 * i; row < rows && col < cols) C[std::size_t(row) * cols + col] = even[i] + odd[i];
}
void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream) {
  gemm_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, rows, cols, depth);
}
