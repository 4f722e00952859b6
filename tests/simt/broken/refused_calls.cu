// refused: 10, 11, 12
// Calls whose results nobody looks at: a grid without blocks, a null pointer, more shared memory than was asked for.
#include <cstdio>

__global__ void set(int* data) { *data = 1; }

int main() {
  int* data;
  cudaMalloc(&data, sizeof *data);
  set<<<0, 32>>>(data);
  cudaMemcpy(data, nullptr, sizeof *data, cudaMemcpyHostToDevice);
  set<<<1, 32, 60000>>>(data);
  cudaFree(data);
}
