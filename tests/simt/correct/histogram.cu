// Shared bins by atomics, then added to global ones.
#include "../programs/check.hpp"

__global__ void histogram(int* data) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 4; ++i) atomicAdd(&bins[(threadIdx.x + i) % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&data[threadIdx.x], bins[threadIdx.x]);
}

int main() {
  int *data, host[16];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  histogram<<<4, 64>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  for (int n : host) expect(n == 64, "bins");
  cudaFree(data);
  std::puts("ok");
}
