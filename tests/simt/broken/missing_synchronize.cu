// expects: wrong result
// The host reads pinned memory before the copy into it has ended.
#include <cstdio>

__global__ void produce(int* p) { *p = 7; }

int main() {
  int *d, *host;
  cudaMalloc(&d, sizeof(int));
  cudaMallocHost(&host, sizeof(int));
  *host = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  produce<<<1, 1, 0, stream>>>(d);
  cudaMemcpyAsync(host, d, sizeof(int), cudaMemcpyDeviceToHost, stream);
  bool good = *host == 7;
  cudaStreamSynchronize(stream);
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
