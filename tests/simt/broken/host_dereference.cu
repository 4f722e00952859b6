// host: host code reads device memory at 12
// A pointer from cudaMalloc, followed by the host.
#include <cstdio>

__global__ void set(int* data) { data[threadIdx.x] = 1; }

int main() {
  int* data;
  cudaMalloc(&data, 128);
  set<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  const int first = data[0];
  std::printf("%d\n", first);
}
