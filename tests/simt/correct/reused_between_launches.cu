// A later launch overwrites what an earlier one read, and blocks reuse shared memory.
#include "../programs/check.hpp"

__global__ void shift(const int* from, int* to) {
  __shared__ int box[64];
  unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
  box[t] = from[i];
  __syncthreads();
  to[(i + 1) % 256] = box[t] + 1;
}

int main() {
  int *data, host[512];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  for (int k = 0; k < 4; ++k) shift<<<4, 64>>>(data + k % 2 * 256, data + (k + 1) % 2 * 256);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) expect(host[i] == 4, "four steps");
  cudaFree(data);
  std::puts("ok");
}
