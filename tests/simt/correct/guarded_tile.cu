// A tile that is filled in part, and read only where it was filled.
#include "../programs/check.hpp"

__global__ void sum(int* data, int n) {
  __shared__ int tile[64];
  int i = blockIdx.x * 64 + threadIdx.x, filled = min(64, n - static_cast<int>(blockIdx.x) * 64);
  if (i < n) tile[threadIdx.x] = 1;
  __syncthreads();
  int total = 0;
  for (int k = 0; k < filled; ++k) total += tile[k];
  data[i] = total;
}

int main() {
  int *data, host[128];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  sum<<<2, 64>>>(data, 100);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 64 && host[127] == 36, "sums of tiles");
  cudaFree(data);
  std::puts("ok");
}
