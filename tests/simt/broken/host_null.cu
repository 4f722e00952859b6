// host: ridge: segmentation fault in host code
// A table that nobody made, read by host code.
// says: at host_null.cu:10
// says: it follows a null pointer, or reads threadIdx or the like outside of a kernel
#include <cstdio>

int* table = nullptr;

int main() {
  std::printf("%d\n", table[3]);
  cudaDeviceSynchronize();
}
