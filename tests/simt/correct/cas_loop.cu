// atomicCAS loops begin with a plain load, as the programming guide's atomicAdd for double does.
#include "../programs/check.hpp"

__device__ void multiply(int* p, int factor) {
  int old = *p, assumed;
  do {
    assumed = old;
    old = atomicCAS(p, assumed, assumed * factor);
  } while (assumed != old);
}

__global__ void product(int* data) {
  __shared__ int p;
  if (threadIdx.x == 0) p = 1;
  __syncthreads();
  if (threadIdx.x < 8) multiply(&p, 2);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&data[0], p);
  if (threadIdx.x % 32 == 0) multiply(&data[1], 1);
}

int main() {
  int *data, host[2];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  product<<<4, 64>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 1024, "products");
  cudaFree(data);
  std::puts("ok");
}
