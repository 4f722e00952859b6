// expects: wrong result
// The host waits for one stream and reads what another one writes.
#include <cstdio>

__global__ void produce(int* p, int value) { *p = value; }

int main() {
  int* managed;
  cudaMallocManaged(&managed, 2 * sizeof(int));
  managed[0] = managed[1] = 0;
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  produce<<<1, 1, 0, one>>>(managed, 1);
  produce<<<1, 1, 0, two>>>(managed + 1, 2);
  cudaStreamSynchronize(two);
  bool good = managed[0] == 1 && managed[1] == 2;
  cudaDeviceSynchronize();
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
