// expects: printf with %n in a kernel at 5, cudaErrorLaunchFailure
// CUDA's printf has no %n.
#include <cstdio>

__global__ void count(int* written) { printf("twelve bytes%n", written); }

int main() {
  int* written;
  cudaMalloc(&written, sizeof(int));
  count<<<1, 1>>>(written);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
