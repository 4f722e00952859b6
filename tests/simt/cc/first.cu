// With second.cu: two files, one template kernel, one header in a folder of its own.
#include <cstdio>

#include "include/scale.cuh"

void second(float* x);

int main() {
  float* x = nullptr;
  cudaMallocManaged(&x, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) x[i] = i;
  run_scale(x);
  second(x);
  cudaDeviceSynchronize();
  if (x[3] == 15) printf("ok\n");
  return x[3] != 15;
}
