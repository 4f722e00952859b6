// expects: wrong result
// devices: 2
// The default stream waits for the blocking streams of its own device only.
#include <cstdio>
__global__ void set(int* out) { *out = 1; }

int main() {
  int *out, *zero;
  cudaStream_t stream;
  cudaMallocHost(&out, sizeof(int));
  cudaMalloc(&zero, sizeof(int));
  *out = 0;
  cudaSetDevice(1);
  cudaStreamCreate(&stream);
  set<<<1, 1, 0, stream>>>(out);
  cudaSetDevice(0);
  set<<<1, 1>>>(zero);
  cudaStreamSynchronize(nullptr);
  std::puts(*out == 1 ? "right result" : "wrong result");
  return 1;
}
