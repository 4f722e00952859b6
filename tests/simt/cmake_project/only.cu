#include <cstdio>

void add_three_times(int* v, int n);

int main() {
  int* v = nullptr;
  cudaMalloc(&v, 4 * sizeof(int));
  cudaMemset(v, 0, 4 * sizeof(int));
  add_three_times(v, 4);
  int got[4] = {};
  cudaMemcpy(got, v, sizeof got, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", got[0], got[1], got[2], got[3]);
  cudaFree(v);
}
