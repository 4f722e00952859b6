#include "../../sample.hpp"
#include "gemv.hpp"

static __global__ void gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows,
                            int columns) {
  __shared__ float tile[64];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c0 = 0; c0 < columns; c0 += 64) {
    int c = c0 + threadIdx.x;
    tile[threadIdx.x] = c < columns ? x[c] : 0.0f;
    __syncthreads();
    int end = min(64, columns - c0);
    if (row < rows)
      for (int k = 0; k < end; ++k) sum += a[row * columns + c0 + k] * tile[k];
    __syncthreads();
  }
  if (row < rows) y[row] = sum;
}

Gemv::Gemv(const std::vector<float>& matrix, int rows, int columns)
    : rows_(rows),
      columns_(columns),
      matrix_(to_device(matrix)),
      x_(device_array<float>(columns)),
      y_(device_array<float>(rows)) {}

Gemv::~Gemv() {
  cudaFree(matrix_);
  cudaFree(x_);
  cudaFree(y_);
}

std::vector<float> Gemv::operator()(const std::vector<float>& x) const {
  CUDA_CHECK(cudaMemcpy(x_, x.data(), columns_ * sizeof(float), cudaMemcpyHostToDevice));
  gemv<<<blocks_for(rows_, 64), 64>>>(matrix_, x_, y_, rows_, columns_);
  CUDA_CHECK(cudaGetLastError());
  return to_host(y_, rows_);
}
