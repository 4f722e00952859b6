// The block that comes last adds the parts of all: fence, atomic counter, volatile reads (as in CUDA's threadfence sample).
#include "../programs/check.hpp"

__device__ unsigned finished;

__global__ void sum(int* data, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    data[1 + blockIdx.x] = n;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += reinterpret_cast<volatile int*>(data)[1 + b];
    data[0] = total;
    finished = 0;
  }
}

int main() {
  int *data, host[17];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  sum<<<16, 64>>>(data, 3);
  sum<<<16, 64>>>(data, 3);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 48, "sum over blocks");
  cudaFree(data);
  std::puts("ok");
}
