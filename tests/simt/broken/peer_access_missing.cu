// expects: global store of 4 bytes without peer access at 5, cudaErrorIllegalAddress
// devices: 2
// Memory of device 1, and a kernel on device 0.
#include <cstdio>
__global__ void fill(float* out) { out[threadIdx.x] = 1; }

int main() {
  float* out;
  cudaSetDevice(1);
  cudaMalloc(&out, 32 * sizeof(float));
  cudaSetDevice(0);
  fill<<<1, 32>>>(out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
