// expects: host function called by a kernel at 8, cudaErrorLaunchFailure
// A pointer to a host function was handed to the kernel.
#include <cctype>
#include <cstdio>

using Transform = int (*)(int);

__global__ void transform(int* data, Transform f) { data[threadIdx.x] = f(data[threadIdx.x]); }

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  transform<<<1, 32>>>(data, toupper);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
