// Kernels that a header declares and another file defines. Both files use dynamic shared memory, under one name.
#include "../../sample.hpp"
#include "kernels.cuh"

namespace {
// The same name as in the other file, and another function.
__device__ int first_index() { return threadIdx.x; }
}  // namespace

__global__ void total(const float* in, int n, double* out) {
  extern __shared__ double scratch[];
  double sum = 0;
  for (int i = first_index(); i < n; i += blockDim.x) sum += in[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < blockDim.x; ++t) scratch[0] += scratch[t];
  *out = scratch[0];
}

int main() {
  const int n = 3001, threads = 128, blocks = blocks_for(n, threads);
  Random random(31);
  std::vector<float> x = random.floats(n), y = random.floats(n);
  std::vector<double> wanted(n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += wanted[i] = 2.5 * x[i] + y[i];
  float *d_x = to_device(x), *d_y = to_device(y), *d_sums = device_array<float>(blocks);
  double* d_total = device_array<double>(1);
  axpy<<<5, 96>>>(n, 2.5f, d_x, d_y);
  block_sums<<<blocks, threads, threads * sizeof(float)>>>(d_y, n, d_sums);
  total<<<1, 20, 20 * sizeof(double)>>>(d_sums, blocks, d_total);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(d_y, n), wanted, 1e-6, "axpy of the other file");
  expect_close(to_host(d_total, 1), std::vector<double>{sum}, 1e-4, "sum of sums");
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));
  CUDA_CHECK(cudaFree(d_sums));
  CUDA_CHECK(cudaFree(d_total));
  std::puts("ok");
}
