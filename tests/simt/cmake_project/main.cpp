#include <cuda_runtime.h>

#include <cstdio>

void fill(int* v, int n);
void twice(int* v, int n);

int main() {
  int* v = nullptr;
  cudaMalloc(&v, 4 * sizeof(int));
  fill(v, 4);
  twice(v, 4);
  int got[4] = {};
  cudaMemcpy(got, v, sizeof got, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", got[0], got[1], got[2], got[3]);
  cudaFree(v);
}
