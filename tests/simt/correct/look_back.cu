// Blocks pass sums along by flags: write, fence, volatile flag; volatile poll, fence, read.
#include "../programs/check.hpp"

__global__ void prefix(int* sums, volatile int* flags) {
  if (threadIdx.x != 0) return;
  unsigned b = blockIdx.x;
  int before = 0;
  if (b > 0) {
    while (flags[b - 1] == 0) {
    }
    __threadfence();
    before = sums[b - 1];
  }
  sums[b] = before + static_cast<int>(b);
  __threadfence();
  flags[b] = 1;
}

int main() {
  int *data, host[20];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  prefix<<<10, 32>>>(data, data + 10);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[9] == 45, "prefix sum");
  cudaFree(data);
  std::puts("ok");
}
