// A shuffle is a meeting of its lanes too.
#include "../programs/check.hpp"

__global__ void pass(int* data) {
  __shared__ int box[32];
  unsigned lane = threadIdx.x;
  box[lane] = lane;
  int x = __shfl_xor_sync(0xffffffff, static_cast<int>(lane), 1);
  data[lane] = x + box[31 - lane];
}

int main() {
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  pass<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 32 && host[31] == 30, "read behind a shuffle");
  cudaFree(data);
  std::puts("ok");
}
