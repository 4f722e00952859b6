// expects: __shfl_xor_sync: width is not a power of two up to 32 at 7, cudaErrorLaunchFailure
// Groups of five lanes, which shuffles do not have.
#include <cstdio>

__global__ void sum(int* data) {
  int x = threadIdx.x;
  x += __shfl_xor_sync(0xffffffff, x, 1, 5);
  data[threadIdx.x] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
