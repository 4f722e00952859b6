// host: ridge: kernel set was called as a function, and faulted as host code
// A timing function gets a kernel and calls it: the launch is missing.
// says: at kernel_as_function.cu:8
// says: called at kernel_as_function.cu:11
// says: a kernel is launched: set<<<blocks, threads>>>(...); on a GPU such a call does nothing but leave cudaErrorMissingConfiguration
#include <cstdio>

__global__ void set(int* data) { data[threadIdx.x] = 1; }

__attribute__((noinline)) void timed(void (*kernel)(int*), int* data) {
  kernel(data);
  std::puts("done");
}

int main() {
  int* data;
  cudaMalloc(&data, 128);
  timed(set, data);
}
