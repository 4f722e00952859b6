// expects: wrong result
// devices: 2
// Waits for device 0, and reads what device 1 writes.
#include <cstdio>
__global__ void set(int* out) { *out = 1; }

int main() {
  int* out;
  cudaMallocHost(&out, sizeof(int));
  *out = 0;
  cudaSetDevice(1);
  set<<<1, 1>>>(out);
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  std::puts(*out == 1 ? "right result" : "wrong result");
  return 1;
}
