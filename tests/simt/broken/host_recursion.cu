// host: ridge: segmentation fault in host code
// A search without an end.
// says: at host_recursion.cu:7
// says: its stack is full: calls within calls without end, or large local arrays (ulimit -s)
#include <cstdio>

int deeper(volatile int* go, int n) { return *go ? (5 * deeper(go, n + 1)) ^ *go : n; }

int main() {
  int go = 1;
  cudaDeviceSynchronize();
  std::printf("%d\n", deeper(&go, 0));
}
