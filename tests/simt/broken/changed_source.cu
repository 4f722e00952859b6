// expects: wrong result
// A pinned buffer is filled again while the copy out of it may still wait.
#include <cstdio>

int main() {
  int *d, *pinned, host = 0;
  cudaMalloc(&d, sizeof(int));
  cudaMallocHost(&pinned, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  *pinned = 1;
  cudaMemcpyAsync(d, pinned, sizeof(int), cudaMemcpyHostToDevice, stream);
  *pinned = 2;
  cudaStreamSynchronize(stream);
  cudaMemcpy(&host, d, sizeof(int), cudaMemcpyDeviceToHost);
  std::puts(host == 1 ? "ok" : "wrong result");
  return host == 1 ? 0 : 1;
}
