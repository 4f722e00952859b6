// expects: global load of 8 bytes without peer access at 5, cudaErrorIllegalAddress
// devices: 2
// Device 1 may access device 0's memory, and not the other way round.
#include <cstdio>
__global__ void copy(const double* in, double* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  double *zero, *one;
  cudaMalloc(&zero, 32 * sizeof(double));
  cudaMemset(zero, 0, 32 * sizeof(double));
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaMalloc(&one, 32 * sizeof(double));
  copy<<<1, 32>>>(zero, one);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  copy<<<1, 32>>>(one, zero);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
