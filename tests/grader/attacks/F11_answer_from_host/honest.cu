#include "judged.hpp"
#include <vector>
// The host hands over a table of offsets, which does not depend on the data.
__global__ void sum_kernel(const float* x, float* y, int cols, const int* offsets) {
  __shared__ float partial[256];
  const float* row = x + static_cast<std::size_t>(offsets[blockIdx.x]) * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) mine += row[c];
  partial[threadIdx.x] = mine;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  std::vector<int> offsets(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) offsets[static_cast<std::size_t>(r)] = r;
  int* on_device = nullptr;
  cudaMallocAsync(&on_device, offsets.size() * 4, stream);
  cudaMemcpyAsync(on_device, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice, stream);
  sum_kernel<<<rows, 256, 0, stream>>>(x, y, cols, on_device);
  cudaFreeAsync(on_device, stream);
  cudaStreamSynchronize(stream);
}
