// expects: wrong result
// The second stream uses what the first one makes, without waiting for it.
#include <cstdio>

__global__ void produce(int* p) { p[threadIdx.x] = 7; }
__global__ void consume(int* out, const int* p) { out[threadIdx.x] = p[threadIdx.x]; }

int main() {
  int *p, *out, host[32];
  cudaMalloc(&p, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  produce<<<1, 32, 0, one>>>(p);
  consume<<<1, 32, 0, two>>>(out, p);
  cudaDeviceSynchronize();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::puts(host[31] == 7 ? "ok" : "wrong result");
  return host[31] == 7 ? 0 : 1;
}
