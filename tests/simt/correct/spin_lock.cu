// A lock by atomicCAS and atomicExch around plain accesses, one thread a block.
#include "../programs/check.hpp"

__global__ void add(int* data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&data[0], 0, 1) != 0) {
  }
  __threadfence();
  data[1] = data[1] + 1;
  __threadfence();
  atomicExch(&data[0], 0);
}

int main() {
  int *data, host[2];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  add<<<12, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 0 && host[1] == 12, "additions under a lock");
  cudaFree(data);
  std::puts("ok");
}
