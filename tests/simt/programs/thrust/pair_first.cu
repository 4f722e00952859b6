// A pair's header is the first one of Thrust: its own first line brings the policies, which need the pair.
#include <thrust/pair.h>
#include <thrust/reduce.h>

#include <cstdio>

__global__ void swap(thrust::pair<int, float>* p) { *p = thrust::make_pair((int)p->second, (float)p->first); }

int main() {
  thrust::pair<int, float> here(3, 7.0f), *there = nullptr;
  cudaMalloc(&there, sizeof here);
  cudaMemcpy(there, &here, sizeof here, cudaMemcpyHostToDevice);
  swap<<<1, 1>>>(there);
  cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
  cudaFree(there);
  const int numbers[] = {1, 2, 3, 4};
  const int sum = thrust::reduce(thrust::host, numbers, numbers + 4);
  std::puts(here.first == 7 && here.second == 3.0f && sum == 10 ? "ok" : "wrong");
}
