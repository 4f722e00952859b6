// expects: assertion failed at 6, cudaErrorAssert
// assert() works in kernels.
#include <cassert>

__global__ void check(int* data) {
  assert(threadIdx.x < 31);
  data[threadIdx.x] = 1;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  check<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
