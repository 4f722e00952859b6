// expects: host function called by a kernel at 8, cudaErrorLaunchFailure
// A function of the C library works on the CPU; there is none on a GPU.
#include <cstdio>
#include <cstdlib>

__global__ void sort(int* data) {
  auto order = [](const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); };
  qsort(data, 32, sizeof(int), order);
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  sort<<<1, 1>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
