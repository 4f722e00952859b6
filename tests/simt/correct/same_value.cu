// Many threads set one flag to the same value; barriers separate it from its readers.
#include "../programs/check.hpp"

__global__ void any(int* data) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (threadIdx.x % 7 == 3) found = 1;
  __syncthreads();
  if (found) data[0] = 1;
  if (threadIdx.x > 2) data[1] = 5;
}

int main() {
  int *data, host[2];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  any<<<4, 128>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 1 && host[1] == 5, "flags");
  cudaFree(data);
  std::puts("ok");
}
