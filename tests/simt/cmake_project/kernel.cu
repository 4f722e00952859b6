#include "kernel.cuh"
// v: n numbers
__global__ void fill_kernel(int* v, int n) {
  if (threadIdx.x < n) v[threadIdx.x] = kFirst + static_cast<int>(threadIdx.x);
}
void fill(int* v, int n) { fill_kernel<<<1, 32>>>(v, n); }
