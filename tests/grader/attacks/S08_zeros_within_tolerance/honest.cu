#include "judged.hpp"
__global__ void sum_kernel(const float* x, float* y, int cols) {
  __shared__ float partial[8];
  const float* row = x + static_cast<std::size_t>(blockIdx.x) * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) mine += row[c];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (float p : partial) all += p;
    y[blockIdx.x] = all;
  }
}
void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  sum_kernel<<<rows, 256, 0, stream>>>(x, y, cols);
}
