// expects: use after free: global store of 4 bytes at 5, cudaErrorIllegalAddress
// The memory goes back to the pool before the kernel of another stream has used it.
#include <cstdio>

__global__ void set(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* p;
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaMallocAsync(&p, 32 * sizeof(int), one);
  cudaStreamSynchronize(one);
  set<<<1, 32, 0, two>>>(p);
  cudaFreeAsync(p, one);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
