// Lists of numbers that narrow, within kernels: nvcc takes them with a warning.
#include "check.hpp"

__global__ void narrow(int* v, double d) {
  const int numbers[3] = {1.0, d, 3};
  for (int i = 0; i < 3; ++i) v[i] = numbers[i];
}

int main() {
  int *device, v[3];
  cudaMalloc(&device, sizeof v);
  narrow<<<1, 1>>>(device, 2.5);
  cudaMemcpy(v, device, sizeof v, cudaMemcpyDeviceToHost);
  expect(v[0] == 1 && v[1] == 2 && v[2] == 3, "numbers are cut to integers");
  cudaFree(device);
  std::printf("ok\n");
}
