// refused: 10, 11
// Copies in the wrong direction, whose results nobody looks at.
#include <cstdio>

int main() {
  int host[4] = {1, 2, 3, 4};
  int* data;
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
}
