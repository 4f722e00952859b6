// expects: __reduce_add_sync: different masks at 6, cudaErrorLaunchFailure
// Each lane names itself and its neighbour, so no two of them agree on who takes part.
#include <cstdio>

__global__ void sum(int* data) {
  data[threadIdx.x] = __reduce_add_sync(1u << threadIdx.x | 1u << (threadIdx.x + 1) % 32, 1);
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
