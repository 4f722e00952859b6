// expects: __shfl_down_sync reads an inactive lane at 8, cudaSuccess
// A block of 20 threads: the mask is right, but lane 4 reads lane 20, which does not exist: it gets an undefined value.
#include <cstdio>

__global__ void sum(int* data) {
  int x = threadIdx.x;
  unsigned mask = (1u << 20) - 1;
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(mask, x, d);
  data[threadIdx.x] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 20>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
