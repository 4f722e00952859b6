// One warp fills, another one takes, by a flag in shared memory.
#include "../programs/check.hpp"

__global__ void pass(int* data) {
  __shared__ int box;
  __shared__ volatile int full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    box = 7;
    __threadfence_block();
    full = 1;
  } else if (threadIdx.x == 0) {
    while (full == 0) {
    }
    __threadfence_block();
    data[0] = box;
  }
}

int main() {
  int *data, host[1];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  pass<<<2, 64>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 7, "what was passed");
  cudaFree(data);
  std::puts("ok");
}
