// expects: grid.sync() without a cooperative launch at 9, cudaErrorLaunchFailure
// The blocks of an ordinary launch need not run at once, so they cannot wait for each other.
#include <cooperative_groups.h>

#include <cstdio>

__global__ void steps(int* data) {
  data[threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  data[threadIdx.x] += 1;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  steps<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
