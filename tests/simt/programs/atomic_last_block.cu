// The last block to finish adds what all wrote, in one launch, three times over; the counter wraps round by itself.
#include "check.hpp"

__device__ unsigned finished;

__global__ void dot(const float* x, const float* y, int n, float* parts, float* result) {
  __shared__ float warps[4];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += 32) sum += static_cast<volatile float*>(parts)[b];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x == 0) *result = sum;
}

int main() {
  constexpr int n = 20000;
  static float x[n], y[n];
  double right = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 9);
    y[i] = static_cast<float>(i % 4);
    right += static_cast<double>(x[i]) * y[i];
  }
  float *dx, *dy, *parts, *result, got;
  cudaMalloc(&dx, sizeof x);
  cudaMalloc(&dy, sizeof y);
  cudaMalloc(&parts, 37 * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice);
  for (int blocks : {37, 1, 16}) {
    cudaMemset(result, 0, sizeof(float));
    dot<<<blocks, 128>>>(dx, dy, n, parts, result);
    expect_error(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess, "the kernel");
    expect(got == static_cast<float>(right), "the dot product, which is exact");
  }
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(parts);
  cudaFree(result);
  std::puts("ok");
}
