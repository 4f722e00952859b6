// host: ridge: segmentation fault in host code
// A search without an end.
// says: at host_recursion.cu:7
// says: its stack is full: calls within calls without end, or large local arrays (ulimit -s)
#include <cstdio>

int deeper(volatile int* go, int n) { volatile int a[99]; return a[n % 99] = n, *go ? deeper(go, n + 1) + a[9] : n; }

int main() {
  int go = 1;
  cudaDeviceSynchronize();
  std::printf("%d\n", deeper(&go, 0));
}
