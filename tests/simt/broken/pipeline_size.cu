// expects: __pipeline_memcpy_async: size at 8, cudaErrorInvalidValue
// An asynchronous copy moves 4, 8 or 16 bytes.
#include <cuda_pipeline.h>

#include <cstdio>
__global__ void copy(const char* in) {
  __shared__ char a[64];
  __pipeline_memcpy_async(a, in, 12);
}
int main() {
  char* in;
  cudaMalloc(&in, 64);
  copy<<<1, 1>>>(in);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
