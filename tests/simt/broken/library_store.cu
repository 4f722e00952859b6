// expects: out-of-bounds global store of 4 bytes at 7, cudaErrorIllegalAddress
// A library function that writes through a pointer is watched like a store.
#include <cmath>
#include <cstdio>

__global__ void exponents(const float* x, float* fraction, int* exponent, int n) {
  if (threadIdx.x <= n) fraction[0] = frexpf(x[0], exponent + threadIdx.x);
}

int main() {
  float* x;
  int* exponent;
  cudaMalloc(&x, 2 * sizeof(float));
  cudaMalloc(&exponent, 31 * sizeof(int));
  cudaMemset(x, 0, 2 * sizeof(float));
  exponents<<<1, 32>>>(x, x + 1, exponent, 31);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
